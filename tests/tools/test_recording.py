"""tests/api/ops/recording: files of recorded calls, and calls near the recorded ones. Paddle itself is not run."""

import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/api/ops/recorded"
sys.path.insert(0, str(ROOT / "tests/api/ops/recording"))
from call_file import Array, read_operator, read_tensors, write_operator, write_tensors  # noqa: E402
from variations import has_gradient_to_compare, vary  # noqa: E402


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
    operator = read_operator(RECORDED / f"{name}.yaml")
    write_operator(tmp_path / f"{name}.yaml", operator, operator.calls, operator.tensors)
    back = read_operator(tmp_path / f"{name}.yaml")
    assert (back.arguments, back.outputs, back.calls) == (operator.arguments, operator.outputs, operator.calls)
    assert all(is_same(back.tensors[key], operator.tensors[key]) for key in operator.tensors)


def test_arguments_and_outputs_are_read_from_signatures():
    operator = read_operator(RECORDED / "strided_slice.yaml")
    assert operator.arguments[:2] == [("Tensor", "x"), ("int[]", "axes")] and operator.outputs == [("out", False)]
    assert read_operator(RECORDED / "split.yaml").outputs == [("out", True)]


def test_a_variation_is_drawn_from_name_seed_and_number_alone():
    for seed, number in ((1, 3), (1, 4), (2, 3)):
        one, again = (vary(read_operator(RECORDED / "pool2d.yaml"), seed, number) for _ in range(2))
        assert (one.what, one.attributes) == (again.what, again.attributes)
        assert all(is_same(a, b) for (_, a), (_, b) in zip(one.arrays(), again.arrays()))


def test_variations_reach_every_change_and_leave_the_recorded_calls_alone():
    operator = read_operator(RECORDED / "put_along_axis.yaml")
    before = [str(call) for call in operator.calls]
    said = " ".join(text for number in range(200) for text in vary(operator, 1, number).what)
    for text in ("elements", "float32 to", "int64 to", "extent", "shape of", "axis", "attributes of another", "a hard element"):
        assert text in said
    assert [str(call) for call in operator.calls] == before


def test_gradients_of_hard_elements_are_not_compared():
    operator = read_operator(RECORDED / "abs.yaml")
    calls = [vary(operator, 1, number) for number in range(100)]
    assert {has_gradient_to_compare(call) for call in calls} == {True, False}
    assert all(np.isfinite(array.values).all() for call in calls if has_gradient_to_compare(call) for _, array in call.arrays())
