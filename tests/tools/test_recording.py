"""tests/ops/recording: files of recorded calls, and calls near the recorded ones. Paddle itself is not run."""

import pathlib
import sys

import numpy as np
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/ops/recording"))
import record_text  # noqa: E402
from call_file import Array, add_to_record, read_operator, read_tensors, write_operator, write_tensors  # noqa: E402
from variations import has_gradient_to_compare, vary  # noqa: E402


def record_of(name):
    return next((ROOT / "tests/ops").glob(f"*/{name}.yaml"))


def is_same(a, b):
    return a.dtype == b.dtype and a.values.shape == b.values.shape and a.values.tobytes() == b.values.tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
                                   "bool", "complex64", "complex128"])
def test_tensors_come_back_as_they_were(tmp_path, dtype):
    arrays = {"matrix": Array("float32", np.float32([[1.5, 2, 3], [0, 100, 1 / 3]])).cast(dtype),
              "nothing": Array("float32", np.zeros((2, 0), np.float32)).cast(dtype),
              "number": Array("float32", np.float32(3)).cast(dtype)}
    write_tensors(tmp_path / "x.safetensors", arrays)
    back = read_tensors(tmp_path / "x.safetensors")
    assert list(back) == list(arrays) and all(is_same(back[key], arrays[key]) for key in arrays)


def test_bfloat16_is_rounded_to_even_and_keeps_nan():
    values = np.float32([1 + 2**-8, 1 + 3 * 2**-8, np.nan, -np.inf])
    rounded = Array("float32", values).cast("bfloat16").values
    assert rounded[:2].tolist() == [1, 1 + 2**-6] and np.isnan(rounded[2]) and rounded[3] == -np.inf


@pytest.mark.parametrize("name", ["adam_", "concat", "clip", "split", "einsum"])
def test_operators_come_back_as_they_were(tmp_path, name):
    operator = read_operator(record_of(f"{name}"))
    write_operator(tmp_path / f"{name}.yaml", operator, operator.calls, operator.tensors)
    back = read_operator(tmp_path / f"{name}.yaml")
    # As texts, in which NaN equals itself.
    assert (back.arguments, back.outputs, str(back.calls)) == (operator.arguments, operator.outputs, str(operator.calls))
    assert all(is_same(back.tensors[key], operator.tensors[key]) for key in operator.tensors)


def test_calls_are_added_to_a_record(tmp_path):
    source = record_of("concat")
    path = tmp_path / "concat.yaml"
    for suffix in (".yaml", ".safetensors"):
        path.with_suffix(suffix).write_bytes(source.with_suffix(suffix).read_bytes())
    before, added = read_operator(path), read_operator(source)
    add_to_record(path, added)
    after = read_operator(path)
    count = len(before.calls)
    assert after.calls[:count] == before.calls and len(after.calls) == 2 * count
    assert min(call["id"] for call in after.calls[count:]) == max(call["id"] for call in before.calls) + 1
    for old, new in zip(before.calls, after.calls[count:]):
        assert all(is_same(before.tensors[a], after.tensors[b]) for a, b in zip(old["in"]["x"], new["in"]["x"]))


def test_lines_of_records_are_wrapped_and_read_back():
    call = {"id": 3, "in": {"x": ["3.x.0", "3.x.1"], "y": None}, "attrs": {"text": "a, b {c} " * 20, "axis": [1, 2]},
            "out": {"out": "3.out.out", "other": None}, "grad": {"x": "3.d.x", "y": None}, "refused": "no"}
    text = record_text.item(record_text.short(call), "  ")
    assert all(len(line) <= 100 for line in text.splitlines()) and len(text.splitlines()) > 2
    keys = ["3.x.0", "3.x.1", "3.out.out", "3.d.x"]
    assert record_text.full(yaml.safe_load(text)[0], keys) == call | {"in": {"x": ["3.x.0", "3.x.1"]}}


def test_arguments_and_outputs_are_read_from_signatures():
    operator = read_operator(record_of("strided_slice"))
    assert operator.arguments[:2] == [("Tensor", "x"), ("int[]", "axes")] and operator.outputs == [("out", False)]
    assert read_operator(record_of("split")).outputs == [("out", True)]


def test_a_variation_is_drawn_from_name_seed_and_number_alone():
    for seed, number in ((1, 3), (1, 4), (2, 3)):
        one, again = (vary(read_operator(record_of("pool2d")), seed, number) for _ in range(2))
        assert (one.what, one.attributes) == (again.what, again.attributes)
        assert all(is_same(a, b) for (_, a), (_, b) in zip(one.arrays(), again.arrays()))


def test_variations_reach_every_change_and_leave_the_recorded_calls_alone():
    operator = read_operator(record_of("put_along_axis"))
    before = [str(call) for call in operator.calls]
    said = " ".join(text for number in range(200) for text in vary(operator, 1, number).what)
    for text in ("elements", "float32 to", "int64 to", "extent", "shape of", "axis", "attributes of another", "a hard element"):
        assert text in said
    assert [str(call) for call in operator.calls] == before


def test_gradients_of_hard_elements_are_not_compared():
    operator = read_operator(record_of("abs"))
    calls = [vary(operator, 1, number) for number in range(100)]
    assert {has_gradient_to_compare(call) for call in calls} == {True, False}
    assert all(np.isfinite(array.values).all() for call in calls if has_gradient_to_compare(call) for _, array in call.arrays())
