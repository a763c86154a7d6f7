"""Operators of libraries that are loaded at run time. AUTOPHI_TEST_OPS names the folder of two."""

import os
from pathlib import Path

import pytest

import autophi as ap
import autophi.distributed as dist

FOLDER = os.environ.get("AUTOPHI_TEST_OPS", "")
needs_library = pytest.mark.skipif(not FOLDER, reason="AUTOPHI_TEST_OPS names no folder of libraries")


@needs_library
def test_a_library_brings_functions_and_methods():
    path = Path(FOLDER) / "libt_first_ops.so"
    names = ap.load_ops(path)
    assert {"t_cube", "t_row_sum", "t_scaled"} <= set(names) and ap.load_ops(str(path)) == names
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert ap.t_cube(x).tolist() == x.t_cube().tolist() == [[1, 8], [27, 64]]
    x.t_cube().sum().backward()
    assert x.grad.tolist() == [[3, 12], [27, 48]]
    assert ap.ops.t_scaled(x, factor=2).tolist() == [[2, 4], [6, 8]]
    assert [part.tolist() for part in ap.t_multiples(ap.tensor([1.0, 2.0]), 2)] == [[1, 2], [2, 4], 3]
    assert ap.t_sum_of(x).tolist() == x.tolist() and ap.t_sum_of(x, [x, x])[0, 0].item() == 3
    with pytest.raises(TypeError, match="t_scaled: argument 'factor' must be float, got str 'a'"):
        ap.t_scaled(x, "a")
    with pytest.raises(TypeError, match="t_scaled: argument 'factor' is missing"):
        ap.t_scaled(x)
    assert ap.t_scaled.__doc__.startswith("t_scaled(x, factor) -> ")


@needs_library
def test_it_brings_gradients_inplace_variants_and_calls_of_others():
    names = ap.load_ops(Path(FOLDER) / "libt_first_ops.so")
    assert {"t_cube_grad", "t_scaled_", "t_positive"} <= set(names) and names == sorted(names)
    x = ap.tensor([1.0, -2.0])
    assert ap.t_cube_grad(x, ap.tensor([1.0, 10.0])).tolist() == [3, 120]
    assert ap.t_cube_grad(x, out_grad=x).tolist() == x.t_cube_grad(x).tolist() == [3, -24]
    assert ap.t_positive(x).tolist() == x.t_positive().tolist() == [1, 0]
    other = x.detach()
    assert x.t_scaled_(3) is x and ap.t_scaled_(x, factor=2.0) is x and x.tolist() == [6, -12] == other.tolist()
    assert ap.t_scaled(x, 1.0) is not x
    with pytest.raises(TypeError, match="t_cube_grad: argument 'out_grad' is missing"):
        ap.t_cube_grad(x)
    with pytest.raises(RuntimeError, match="t_scaled_"):
        ap.tensor([1.0], requires_grad=True).t_scaled_(2.0)
    for function in (ap.t_cube, ap.t_scaled_):
        assert "Placement  ElementwiseUnaryInferSpmd" in function.__doc__ and "float64" in function.__doc__
    assert ap.t_cube_grad.__doc__ == "t_cube_grad(x, out_grad) -> x_grad"


@needs_library
def test_inplace_variants_of_distributed_tensors():
    ap.load_ops(Path(FOLDER) / "libt_first_ops.so")

    def body():
        x = dist.shard_tensor([1.0, 2.0, 3.0], dist.ProcessMesh([0, 1]), [dist.Shard(0)])
        assert x.t_scaled_(2.0) is x
        return x.placements, dist.unshard_dtensor(x).tolist()

    assert dist.run_ranks(2, body) == [([dist.Shard(0)], [2, 4, 6])] * 2


@needs_library
def test_its_operators_are_distributed():
    ap.load_ops(Path(FOLDER) / "libt_first_ops.so")

    def body():
        x = dist.shard_tensor([[1.0, 2.0], [3.0, 4.0]], dist.ProcessMesh([0, 1]), [dist.Shard(1)])
        y = ap.t_row_sum(x)
        return y.placements, dist.unshard_dtensor(y).tolist()

    assert dist.run_ranks(2, body) == [([dist.Partial()], [3, 7])] * 2


@needs_library
def test_a_name_that_is_taken():
    ap.load_ops(Path(FOLDER) / "libt_first_ops.so")
    with pytest.raises(ValueError, match="t_cube"):
        ap.load_ops(Path(FOLDER) / "libt_same_op.so")


def test_files_that_are_no_libraries(tmp_path):
    with pytest.raises(LookupError):
        ap.load_ops(tmp_path / "missing.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(ValueError, match="not an operator library"):
        ap.load_ops(tmp_path / "text.so")
