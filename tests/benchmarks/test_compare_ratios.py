"""What benchmarks/compare computes from measurements, and the tables that it prints."""

import importlib
import sys

import pytest
from peers.byte_data import read_text, window_offsets
from peers.configurations import (COMPARISONS, DDP, EAGER, EAGER_TWO_THREADS, FLOAT32, FLOAT32_DP,
                                  AUTOPHI, Comparison, runs_of, select)
from peers.measure import Measurement, measurement_of
from peers.processes import RunError
from peers.ratios import Figures, goal_lines, row_of, utilisation
from peers.reference import GPT, TOKENS_PER_STEP
from peers.table import aligned, ratio_table, run_table

MIB = 1024**2


def figures(*tokens_per_s, peak_mib=100):
    """None is a repeat that failed."""
    return Figures([None if t is None else Measurement(t, peak_mib * MIB, 0, 2.5, t + 1)
                    for t in tokens_per_s])


# --- the reference model


def test_parameters_are_those_of_autophi_run():
    assert GPT.num_parameters == 10_942_464  # "parameters" of the report


def test_operations_of_a_token():
    layer = 12 * 384 * 384
    assert GPT.matmul_parameters == 6 * layer + 384 * 256
    assert GPT.flops_per_token == 6 * (6 * layer + 384 * 256) + 6 * 6 * 256 * 384


def test_windows_are_those_of_autophi_run():
    # From split_mix() of phi/common/split_mix.h, compiled on its own.
    assert window_offsets(1_000_003, 256, 1, 6, 4) == [649162, 367171, 282869, 476384]


def test_text_is_read_in_order_without_hidden_and_binary_files(tmp_path):
    for path, content in {"b/x": b"2", "b.c": b"1", "z": b"3", ".hidden": b"no", "build/y": b"no",
                          "binary": b"no\0"}.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    assert read_text([str(tmp_path), str(tmp_path / "z")]) == b"1233"


# --- selection


def test_everything_is_selected_by_default():
    assert select("") == COMPARISONS


@pytest.mark.parametrize("only, names", [
    ("float32", ["float32"]),
    ("float32-pp2, float32", ["float32", "float32-pp2"]),
    ("float32-dp2*", ["float32-dp2/best", "float32-dp2"]),
])
def test_selection(only, names):
    assert [c.name for c in select(only)] == names


@pytest.mark.parametrize("only", ["float33", "float32,", "x*"])
def test_unknown_selection_is_answered_with_the_names(only):
    with pytest.raises(ValueError, match="no comparison '.*'; known are float32, float32/compile"):
        select(only)


def test_each_configuration_runs_once_and_ours_comes_first():
    runs = runs_of(COMPARISONS)
    assert len(runs) == len(set(runs))
    assert runs[:2] == [FLOAT32, EAGER]
    assert sum(run.framework == AUTOPHI for run in runs) == 8


# --- measurements


def report(**fields):
    return {"losses": [5.5, 3.0], "step_seconds": [9.0, 1.0, 2.0, 4.0], **fields}


def test_warm_up_does_not_count():
    measured = measurement_of(report(), [30, 12], processes=2, warm_up=1)
    assert measured.tokens_per_s == TOKENS_PER_STEP / 2.0
    assert measured.best_tokens_per_s == TOKENS_PER_STEP / 1.0
    assert measured.peak_bytes == 42
    assert measured.last_loss == 3.0


def test_imports_count_for_each_rank():
    assert measurement_of(report(import_peak_bytes=7), [30, 12], 2, 1).import_bytes == 14


def test_without_step_times_the_reports_rate_is_taken():
    assert measurement_of({"losses": [1.0], "tokens_per_s": 77.0}, [1], 1, 3).tokens_per_s == 77.0


@pytest.mark.parametrize("fields, peaks, message", [
    ({}, [1], "1 of 2 ranks wrote their peak memory"),
    ({"losses": []}, [1, 1], "no losses"),
    ({"step_seconds": [1.0]}, [1, 1], "neither step_seconds beyond 1 steps of warm-up nor"),
])
def test_an_incomplete_report_is_an_error(fields, peaks, message):
    with pytest.raises(RunError, match=message):
        measurement_of(report(**fields), peaks, processes=2, warm_up=1)


# --- ratios and goals


def test_speed_ratio_is_of_runs_of_the_same_turn():
    # The machine was half as fast in the second turn.
    row = row_of(Comparison("c", FLOAT32, (EAGER,)),
                 {FLOAT32: figures(300, 150, 330), EAGER: figures(200, 100, 220)})
    assert row.speed_ratio == 1.5
    assert (row.ours_tokens_per_s, row.other_tokens_per_s) == (300, 200)


def test_memory_ratio_is_of_medians():
    row = row_of(Comparison("c", FLOAT32, (EAGER,)),
                 {FLOAT32: figures(1, peak_mib=60), EAGER: figures(1, peak_mib=120)})
    assert row.memory_ratio == 0.5


def test_the_fastest_of_the_others_that_ran_counts():
    row = row_of(Comparison("c", FLOAT32_DP, (EAGER_TWO_THREADS, DDP, EAGER)),
                 {FLOAT32_DP: figures(300), EAGER_TWO_THREADS: figures(100), DDP: figures(150),
                  EAGER: figures(None)})
    assert row.other == DDP
    assert row.speed_ratio == 2.0


def test_a_failed_turn_is_left_out():
    row = row_of(Comparison("c", FLOAT32, (EAGER,)),
                 {FLOAT32: figures(100, None), EAGER: figures(50, 10)})
    assert row.speed_ratio == 2.0


@pytest.mark.parametrize("measured", [{FLOAT32: figures(100)}, {EAGER: figures(100)}, {},
                                      {FLOAT32: figures(None), EAGER: figures(100)}])
def test_a_missing_side_has_no_ratio_and_its_goals_are_not_measured(measured):
    row = row_of(Comparison("c", FLOAT32, (EAGER,), 1.15, 0.6), measured)
    assert row.speed_ratio is None and row.memory_ratio is None
    assert goal_lines([row]) == ["not measured: c: tokens/s (goal >= 1.15)",
                                 "not measured: c: peak memory (goal <= 0.60)"]


@pytest.mark.parametrize("ours, peak, lines", [
    (115, 60, []),
    (114, 60, ["missed: c: tokens/s 1.14 x eager, goal >= 1.15"]),
    (115, 61, ["missed: c: peak memory 0.61 x eager, goal <= 0.60"]),
])
def test_goals(ours, peak, lines):
    row = row_of(Comparison("c", FLOAT32, (EAGER,), 1.15, 0.6),
                 {FLOAT32: figures(ours, peak_mib=peak), EAGER: figures(100, peak_mib=100)})
    assert goal_lines([row]) == lines


def test_a_comparison_without_goals_misses_none():
    row = row_of(Comparison("c", FLOAT32, (EAGER,)),
                 {FLOAT32: figures(1), EAGER: figures(100)})
    assert goal_lines([row]) == []


def test_utilisation_is_of_all_cores():
    peak = {"float32": GPT.flops_per_token * 1000.0}
    assert utilisation(EAGER, 500, peak) == 0.5
    assert utilisation(EAGER_TWO_THREADS, 500, peak) == 0.25
    assert utilisation(DDP, 500, {}) is None


def test_spread_is_between_repeats():
    assert figures(90, 100, 110, None).spread == pytest.approx(0.2)
    assert Figures().spread is None
    assert figures(90, None).spread is None


# --- tables


def test_columns_are_aligned():
    assert aligned(["a", "n"], [["long", "1"], ["b", "234"]], left={0}).splitlines() == [
        "a       n", "---------", "long    1", "b     234"]


def test_ratio_table():
    row = row_of(Comparison("c", FLOAT32, (EAGER,), 1.15),
                 {FLOAT32: figures(1300), EAGER: figures(1000, peak_mib=1200)})
    assert ratio_table([row]).splitlines()[2].split() == [
        "c", "1,300", "eager", "1,000", "1.30", ">=", "1.15", "100", "1,200", "0.08", "-"]


def test_ratio_table_with_a_missing_side():
    row = row_of(Comparison("c", FLOAT32, (EAGER,)), {FLOAT32: figures(1300)})
    assert ratio_table([row]).splitlines()[2].split() == [
        "c", "1,300", "-", "-", "-", "-", "100", "-", "-", "-"]


def test_our_own_float32_is_called_ours():
    (comparison,) = select("bfloat16/float32")
    row = row_of(comparison, {FLOAT32: figures(10), comparison.ours: figures(40)})
    assert " our float32 " in ratio_table([row])


def test_run_table_shows_a_failed_run():
    table = run_table({EAGER: figures(100, 120), DDP: figures(None)}, {"float32": 1e12})
    lines = table.splitlines()
    assert lines[2].split() == ["pytorch", "eager", "1", "110", "18%", "111", "1%", "100", "-",
                                "2.5000"]
    assert lines[3].split() == ["pytorch", "DDP", "2"] + ["-"] * 7


class _SlowTorch:
    """Stands for PyTorch where time passes in matmuls alone: so many operations in a second, by dtype."""

    def __init__(self, rates):
        self.rates, self.now, self.sizes = rates, 0.0, []

    def randn(self, size, _):
        return self._Matrix(size)

    class _Matrix:
        def __init__(self, size, dtype="float32"):
            self.size, self.dtype = size, dtype

        def to(self, dtype):
            return type(self)(self.size, dtype)

    def mm(self, x, _, out=None):
        self.sizes.append(x.size)
        self.now += 2 * x.size**3 / self.rates[x.dtype]
        return out or x


@pytest.mark.parametrize("rate, largest", [(1e12, 2048), (2e10, 2048), (2e9, 1024), (2e8, 512), (1e6, 256)])
def test_a_peak_is_measured_in_a_bounded_time(monkeypatch, rate, largest):
    torch = _SlowTorch({"bfloat16": rate})
    torch.dtype = str
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "peers.torch_gemm", raising=False)
    gemm = importlib.import_module("peers.torch_gemm")
    monkeypatch.setattr(gemm.time, "perf_counter", lambda: torch.now)
    assert gemm.flops_per_s("bfloat16") == pytest.approx(rate)
    assert max(torch.sizes) == largest
    # The smallest size is measured at any rate.
    assert torch.now <= 15 or largest == 256
    monkeypatch.delitem(sys.modules, "peers.torch_gemm")
