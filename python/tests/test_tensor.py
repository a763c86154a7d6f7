"""Tensors: making them of values, what they say of themselves, and back to values."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import autophi as ap

DTYPES = [ap.bool_, ap.uint8, ap.int8, ap.int16, ap.int32, ap.int64, ap.float16, ap.bfloat16, ap.float32,
          ap.float64, ap.complex64, ap.complex128]


@pytest.mark.parametrize("data, shape, dtype", [
    (3, (), ap.int64), (2.5, (), ap.float32), (True, (), ap.bool_), (1 + 2j, (), ap.complex64),
    ([1, 2, 3], (3,), ap.int64), ([[1.0], [2]], (2, 1), ap.float32), ([True, 2], (2,), ap.int64),
    ([], (0,), ap.float32), ([[], []], (2, 0), ap.float32), (((1, 2), (3, 4)), (2, 2), ap.int64),
    (range(4), (4,), ap.int64), ([np.float32(1.5), np.int64(2)], (2,), ap.float32),
])
def test_values_give_shape_and_dtype(data, shape, dtype):
    x = ap.tensor(data)
    assert x.shape == shape and x.dtype == dtype
    assert x.tolist() == np.array(data).tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_goes_in_and_out(dtype):
    x = ap.tensor([[0, 1], [1, 0]], dtype)
    assert x.dtype is dtype and x.nbytes_here in (0, 4 * dtype.itemsize)
    assert x.tolist() == [[0, 1], [1, 0]]
    assert x[0, 1].item() == 1


@pytest.mark.parametrize("data, dtype, words", [
    ([[1, 2], [3]], None, "the value at [1] is a list of 1, where others are lists of 2"),
    ([1, [2]], None, "the value at [1] is list [2], where others are numbers"),
    ([[1], 2], None, "the value at [1] is the number int 2, where others are lists of 1"),
    ([1, 300], "uint8", "the value at [1] is int 300, which uint8 has not"),
    ([1.5], "int32", "the value at [0] is float 1.5, which int32 has not"),
    ([1, -1], "uint8", "which uint8 has not"),
    ([2**70], None, "which int64 has not"),
    ([1j], "float32", "which float32 has not"),
    ([1], "floot", "'floot', which is no dtype here; there are bool, uint8"),
])
def test_values_that_do_not_fit(data, dtype, words):
    with pytest.raises(ValueError) as error:
        ap.tensor(data, dtype)
    assert words in str(error.value)


@pytest.mark.parametrize("data", ["12", b"12", None, [None], ["a"], {1: 2}, object()])
def test_values_that_are_no_numbers(data):
    with pytest.raises(TypeError, match="must be"):
        ap.tensor(data)


def test_nested_too_deep():
    data = 1
    for _ in range(12):
        data = [data]
    with pytest.raises(ValueError, match="nested more than 9 deep"):
        ap.tensor(data)


@pytest.mark.parametrize("name, dtype", [("float64", ap.float64), (np.float32, ap.float32), (int, ap.int64),
                                         (np.dtype("int16"), ap.int16), (bool, ap.bool_), (float, ap.float64)])
def test_what_stands_for_a_dtype(name, dtype):
    assert ap.tensor([1, 0], name).dtype is dtype
    assert dtype == dtype.name and hash(dtype) == hash(pickle.loads(pickle.dumps(dtype)))
    assert dtype != "other" and dtype is not None and dtype != 3


def test_repr_shows_values_dtype_and_sharding():
    assert repr(ap.tensor([[1.0, 2.5], [-3.0, 4.0]])) == "Tensor f32[2,2]\n[[  1, 2.5],\n [ -3,   4]]"
    assert repr(ap.tensor([1.0], requires_grad=True)) == "Tensor f32[1], requires grad\n[1]"
    assert repr(ap.float32) == "autophi.float32"


def test_item_and_numbers():
    x = ap.tensor(2**62 + 1)
    assert x.item() == int(x) == 2**62 + 1
    assert float(ap.tensor(0.5)) == 0.5 and bool(ap.tensor([0])) is False
    assert [10, 20, 30][ap.tensor(1)] == 20
    assert ap.tensor(1 + 2j).item() == 1 + 2j
    with pytest.raises(TypeError, match="is no index"):
        [1][ap.tensor(0.0)]
    for call in (bool, float, int):
        with pytest.raises(ValueError, match="has 2 elements"):
            call(ap.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="needs one element"):
        ap.tensor([1.0, 2.0]).item()


def test_properties():
    x = ap.tensor([[1.0, 2.0, 3.0]])
    assert (x.ndim, x.size, x.place, x.is_dist, x.sharding) == (2, 3, "cpu", False, "f32[1,3]")
    assert x.placements is None and x.process_mesh is None and x.grad is None
    assert x.T.shape == (3, 1) and len(x) == 1
    with pytest.raises(AttributeError):
        x.shape = (3,)
    with pytest.raises(AttributeError):
        x.unknown


def test_conversion():
    x = ap.tensor([1.25, 2.0])
    assert x.to("float64").dtype is ap.float64 and x.cast(ap.int32).tolist() == [1, 2]
    assert x.to(ap.float32).tolist() == x.tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pickles_and_copies(dtype):
    x = ap.tensor([[1, 0, 1]], dtype)
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert again is not x and again.dtype is dtype and again.tolist() == x.tolist()
    y = ap.tensor([1.0], requires_grad=True)
    assert pickle.loads(pickle.dumps(y)).requires_grad


def test_a_pickle_with_other_bytes_is_refused():
    rebuild, (data, *rest) = ap.tensor([1.0]).__reduce__()
    with pytest.raises(ValueError, match="has 3 bytes for"):
        rebuild(data[:3], *rest)


def test_clone_has_bytes_of_its_own_and_detach_shares():
    x = ap.ones([2])
    shared, own = x.detach(), x.clone()
    x += 1
    assert shared.tolist() == [2, 2] and own.tolist() == [1, 1]


def test_objects_end_and_are_told_of():
    x = ap.ones([2])
    ended = []
    reference = weakref.ref(x, ended.append)
    assert reference() is x and {x: 1}[x] == 1
    del x
    gc.collect()
    assert ended and reference() is None


def test_classes_made_of_tensor():
    class Named(ap.Tensor):
        def __init__(self, data, dtype=None):
            self.name = "x"

    x = Named([1.0, 2.0])
    assert x.name == "x" and isinstance(x, ap.Tensor) and (x + x).tolist() == [2, 4]
    y = ap.tensor([1.0])
    same = Named(y)
    same += 1
    assert y.tolist() == [2]
