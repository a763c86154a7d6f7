"""Captured functions, what calls move, dry worlds."""

import dataclasses
import json
import traceback

import numpy as np
import pytest
import small_gpt

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 10
W = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)


@ap.capture
def step(x, w, *, power=2):
    """Loss and gradient."""
    loss = (ap.matmul(x, w) ** power).mean()
    return loss, {"w": ap.grad(loss, w)[0]}


def leaf(values):
    return ap.tensor(values).requires_grad_()


OUTER = leaf(W)


def test_a_program_gives_what_the_function_gives():
    assert step.__doc__ == "Loss and gradient." and step.__name__ == "step"
    for power in (2, 3):
        loss, gradients = step(ap.tensor(X), leaf(W), power=power)
        w = leaf(W)
        want = (ap.matmul(ap.tensor(X), w) ** power).mean()
        want.backward()
        assert loss.item() == want.item() and gradients["w"].tolist() == w.grad.tolist()
    program = step.program(ap.tensor(X), leaf(W))
    assert program is step.program(ap.tensor(X + 1), leaf(W))            # values do not matter
    assert program is not step.program(ap.tensor(X), leaf(W), power=3)
    assert program is not step.program(ap.tensor(X[:2]), leaf(W))
    assert "matmul" in str(program) and "matmul" in program.rank_program() and program.num_steps > 2
    assert program.arena_bytes > 0


def test_the_function_is_called_once_for_each_program():
    calls = []

    @ap.capture
    def double(x):
        calls.append(x.shape)
        return x + x
    for _ in range(3):
        assert double(ap.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert calls == [(2,)]


def counted(**options):
    """A captured function, and the lengths that it was captured for."""
    calls = []

    @ap.capture(**options)
    def double(x):
        calls.append(x.shape[0])
        return x + x
    return double, calls


@dataclasses.dataclass(frozen=True)
class Options:
    scale: float


@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: (k,), lambda k: {"k": k}, np.float32, np.float64, Options,
                                  lambda k: Options((k,)), lambda k: complex(0.0, k)], ids=str)
def test_a_zero_with_a_sign_is_another_argument(wrap):
    @ap.capture
    def divided(x, given):
        k = str(given)
        return x / (-0.0 if "-" in k else 0.0)
    x = ap.tensor([1.0])
    assert [divided(x, wrap(k)).item() for k in (0.0, -0.0, 0.0)] == [np.inf, -np.inf, np.inf]
    assert divided.num_programs == 2


def test_a_nan_is_the_same_argument_each_time():
    double, calls = counted()
    scaled = ap.capture(lambda x, k: x * k)
    for _ in range(3):
        assert np.isnan(scaled(ap.ones([2]), float("nan")).tolist()).all()
    assert scaled.num_programs == 1 and double.num_programs == len(calls) == 0


def test_the_programs_that_have_not_run_for_the_longest_go():
    double, calls = counted(max_programs=2)
    for n in (1, 2, 1, 3, 1, 2):
        assert double(ap.ones([n])).tolist() == [2.0] * n
    assert calls == [1, 2, 3, 2] and double.num_programs == double.max_programs == 2
    kept = double.program(ap.ones([2]))
    double.max_programs = 1
    assert double(ap.ones([1])).tolist() == [2.0] and double.num_programs == 1 and calls[4:] == []
    double(ap.ones([2]))
    assert calls[4:] == [2] and double.program(ap.ones([2])) is not kept and kept.num_steps > 0


def test_each_rank_has_its_own_number_of_programs():
    double, calls = counted(max_programs=1)

    def body():
        for n in (1, 2, 1 + dist.rank()):
            double(ap.ones([n]))
        return double.num_programs
    assert dist.run_ranks(2, body) == [1, 1]
    assert sorted(calls) == [1, 1, 1, 2, 2] and double.num_programs == 0


def test_bounds_that_are_none():
    with pytest.raises(ValueError, match="'max_programs' is 0; expected at least 1"):
        ap.capture(max_programs=0)(lambda x: x)
    for wrong in ("4", True, 2.0):
        with pytest.raises(TypeError, match="capture: 'max_programs' must be int, got"):
            step.max_programs = wrong
    assert step.max_programs == ap.capturing.MAX_PROGRAMS


def test_what_requires_a_gradient_is_another_program():
    @ap.capture
    def slope(x, w):
        loss = ap.matmul(x, w).sum()
        return ap.grad(loss, w)[0] if w.requires_grad else loss
    x = ap.ones([1, 2])
    assert slope(x, leaf([[2.0], [3.0]])).tolist() == [[1.0], [1.0]]
    assert slope(x, ap.tensor([[2.0], [3.0]])).item() == 5.0
    assert slope(x, leaf([[2.0], [3.0]])).tolist() == [[1.0], [1.0]] and slope.num_programs == 2


def test_parameters_are_seen_as_they_are():
    w = ap.tensor([1.0, 2.0])

    @ap.capture
    def grow(x):
        global_w = w
        global_w += x
        return [global_w * 2.0]
    assert grow(ap.tensor([1.0, 1.0]))[0].tolist() == [4.0, 6.0] and w.tolist() == [2.0, 3.0]
    w += 1.0
    assert grow(ap.tensor([1.0, 1.0]))[0].tolist() == [8.0, 10.0]
    program = grow.program(ap.tensor([1.0, 1.0]))
    assert program.parameter_id(w) == 0 and program.parameter_id(ap.tensor([1.0])) == -1
    assert len(program.parameters()) == 1


def test_stablehlo():
    text = step.to_stablehlo(ap.placeholder([3, 4]), leaf(W), name="step", inputs=["x", "w"], outputs=["loss"])
    assert "stablehlo.dot_general" in text and "@main" in text


def test_limited_memory():
    @ap.capture
    def chain(x):
        for _ in range(4):
            x = ap.relu(ap.matmul(x, x))
        return x
    x = np.eye(64, dtype=np.float32)
    want = chain(ap.tensor(x)).tolist()
    assert chain.limit_memory(device=1 << 20, host=1 << 20) is chain
    assert chain(ap.tensor(x)).tolist() == want
    with pytest.raises(MemoryError, match="least device limit that works"):
        chain.limit_memory(device=1000)(ap.tensor(x))


def test_graphs_are_used_or_not_by_all_programs(monkeypatch):
    capture_program, said = ap.capturing._capture.capture_program, []

    class Told:
        """A program that notes what it is told of graphs, which a CPU does nothing about."""

        def __init__(self, *args):
            self.program = capture_program(*args)
            self.run = self.program.run

        def use_graphs(self, use):
            self.program.use_graphs(use)
            said.append(use)

    monkeypatch.setattr(ap.capturing._capture, "capture_program", Told)
    double, _ = counted()
    double(ap.ones([1]))
    assert double.use_graphs(False) is double
    assert double(ap.ones([1])).tolist() == [2.0] and double(ap.ones([2])).tolist() == [2.0, 2.0]
    double.use_graphs()(ap.ones([1]))
    assert said == [True, False, False, True]
    with pytest.raises(TypeError, match="capture: 'use' must be bool, got str 'no'"):
        double.use_graphs("no")


@pytest.mark.parametrize(("function", "kind", "words"), [
    (lambda x: x * x.sum().item(), RuntimeError, "no values are computed"),
    (lambda x: (OUTER * x).sum().backward(), RuntimeError, "leaves a gradient"),
    (lambda x: ap.nonzero(x), NotImplementedError, "depends on data"),
    (lambda x: 1 / 0, ZeroDivisionError, "division by zero"),
])
def test_errors_say_what_is_wrong(function, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ap.capture(function)(leaf(W).detach())
    if kind is ZeroDivisionError:
        assert "lambda" in "".join(traceback.format_exception(caught.value))


def test_inputs_that_differ_are_errors_of_the_program():
    with pytest.raises(ValueError, match=r"input 0 of a captured program is f32\[3,5\]"):
        step.program(ap.tensor(X), leaf(W)).run([ap.zeros([3, 5], dtype="float32"), ap.tensor(W)])


def test_ranks_capture_for_themselves():
    def rank():
        mesh = dist.ProcessMesh([0, 1], dim_names=["dp"])
        x = dist.shard_tensor(ap.tensor(X[:2]), mesh, [dist.Shard(0)])
        w = dist.shard_tensor(leaf(W), mesh, [dist.Replicate()])
        loss, gradients = step(x, w)
        return dist.unshard_dtensor(loss).item(), dist.unshard_dtensor(gradients["w"]).tolist()
    w = leaf(W)
    loss = (ap.matmul(ap.tensor(X[:2]), w) ** 2).mean()
    loss.backward()
    for got in dist.run_ranks(2, rank):
        np.testing.assert_allclose(got[0], loss.item(), rtol=1e-6)
        np.testing.assert_allclose(got[1], w.grad.tolist(), rtol=1e-6)


# ---- explaining ----

def moved(rank_of):
    mesh = dist.ProcessMesh([0, 1], dim_names=["tp"])
    x = dist.shard_tensor(ap.tensor(X), mesh, [dist.Shard(1)])
    return rank_of(x)


def test_explain_says_what_moves():
    def rank(x):
        explanation = ap.explain(lambda: ap.softmax(x, -1))
        return str(explanation), explanation.moved, json.loads(explanation.to_json()), explanation.num_moves
    text, bytes_, parsed, moves = dist.run_ranks(2, moved, rank)[0]
    assert "dim 1 must be unsharded for softmax" in text and bytes_["received"] > 0 and moves == 1
    assert parsed["calls"][0]["op"] == "softmax"

    def captured(x):
        return str(ap.capture(lambda y: ap.softmax(y, -1)).explain(x))
    assert "dim 1 must be unsharded for softmax" in dist.run_ranks(2, moved, captured)[0]


def test_modules_and_lines_are_told():
    def rank():
        mesh = dist.ProcessMesh([0, 1], dim_names=["tp"])
        net = nn.Sequential(nn.Linear(4, 2))
        nn.shard(net, mesh, nn.Layout().parameters("0.weight", {"tp": dist.Shard(0)}))
        x = dist.shard_tensor(ap.tensor(X), mesh, [dist.Replicate()])
        text = str(ap.explain(net, x, model=net))
        assert "0.weight" in text and ap.check_ops(net, x, model=net) > 0
        return text
    assert all("\n0 (" in text for text in dist.run_ranks(2, rank))


def test_budgets_and_checks():
    def fine(x):
        ap.expect_moves(lambda: x + x, bytes_at_most=0)
        return ap.check_ops(lambda: ap.softmax(x, -1))
    assert dist.run_ranks(2, moved, fine) == [1, 1]

    def over(x):
        ap.expect_moves(lambda: ap.softmax(x, -1), bytes_at_most=0)
    with pytest.raises(AssertionError, match="softmax"):
        dist.run_ranks(2, moved, over)

    def infinite(x):
        ap.check_numbers(lambda: ap.log(x * 0.0))
    with pytest.raises(FloatingPointError, match="log"):
        dist.run_ranks(2, moved, infinite)

    def broken(x):
        ap.explain(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dist.run_ranks(2, moved, broken)


# ---- dry worlds ----

def played(world_size, rank, shape, dims, make=small_gpt.library_gpt):
    with ap.dry_run(world_size=world_size, rank=rank) as dry:
        assert (dist.rank(), dist.world_size(), dist.backend()) == (rank, world_size, "dry")
        mesh = dist.ProcessMesh(shape=shape, dim_names=dims)
        model = make()
        nn.shard(model, mesh, nn.transformer_layout(model, mesh))
        optimizer = optim.AdamW(model)
        ids = ap.placeholder([world_size, 16], "int64", mesh, [dist.Shard(0)])
        labels = ap.placeholder([world_size, 16, 1], "int64", mesh, [dist.Shard(0)])
        nn.cross_entropy(model(ids), labels).backward()
        optimizer.step()
        return dry.report()


@pytest.mark.parametrize("make", [small_gpt.library_gpt, small_gpt.PlainGpt])
def test_a_rank_of_a_large_world(make):
    report = played(16384, 77, [2048, 8], ["dp", "tp"], make)
    assert report["world_size"] == 16384 and report["rank"] == 77
    assert report["ops_launched"] > 50 and report["bytes_sent"] > 0 and report["planned_peak_bytes"] > 0
    assert dist.world_size() == 1 and dist.backend() != "dry"


def test_a_dry_rank_does_what_a_real_one_does():
    dry = played(2, 1, [2], ["dp"])

    def rank():
        mesh = dist.ProcessMesh(shape=[2], dim_names=["dp"])
        model = small_gpt.library_gpt()
        nn.shard(model, mesh, nn.transformer_layout(model, mesh))
        optimizer = optim.AdamW(model)
        ids, labels = (dist.shard_tensor(x, mesh, [dist.Shard(0)]) for x in small_gpt.TEXT.batch(1, 2, 16))
        nn.cross_entropy(model(ids), labels).backward()
        optimizer.step()
        return dist.counters()
    real = dist.run_ranks(2, rank)[1]
    assert {key: dry[key] for key in real} == real


def test_dry_runs_end_and_nest_and_fail_as_they_should():
    with pytest.raises(ValueError, match="rank from 0 to world_size - 1; got 4 and 4"):
        ap.dry_run(world_size=4, rank=4)
    with ap.dry_run(world_size=8, rank=1):
        with ap.dry_run(world_size=4, rank=2) as inner:
            assert dist.world_size() == 4
            with pytest.raises(RuntimeError, match="already entered"):
                inner.__enter__()
        assert dist.world_size() == 8
    assert dist.world_size() == 1
    with pytest.raises(KeyError), ap.dry_run(world_size=2):
        raise KeyError("within")
    assert dist.world_size() == 1
    with pytest.raises(RuntimeError, match="no bytes|placeholder"):
        (ap.placeholder([2]) + 1.0).tolist()


def test_captured_functions_in_dry_worlds_play_themselves():
    with ap.dry_run(world_size=2):
        out = ap.capture(lambda x: x * 2.0)(ap.placeholder([3]))
        assert out.shape == (3,)
