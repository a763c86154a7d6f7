"""Tensors: making them of values, what they say of themselves, and back to values."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import autophi as ap
import autophi.distributed as dist

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
    ([[1, 2], [3]], None, "the value at [1] is a list of 1, but other elements are lists of 2"),
    ([1, [2]], None, "the value at [1] is list [2], but other elements are numbers"),
    ([[1], 2], None, "the value at [1] is the number int 2, but other elements are lists of 1"),
    ([1, 300], "uint8", "the value at [1] is int 300, which uint8 cannot represent"),
    ([1.5], "int32", "the value at [0] is float 1.5, which int32 cannot represent"),
    ([1, -1], "uint8", "which uint8 cannot represent"),
    ([2**70], None, "which int64 cannot represent"),
    ([1j], "float32", "which float32 cannot represent"),
    ([1], "floot", "'floot', which is not a dtype; expected one of bool, uint8"),
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
    with pytest.raises(TypeError, match="cannot be an index"):
        [1][ap.tensor(0.0)]
    for call in (bool, float, int):
        with pytest.raises(ValueError, match="needs exactly one element, but the tensor has 2"):
            call(ap.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="needs exactly one element"):
        ap.tensor([1.0, 2.0]).item()


@pytest.mark.parametrize("other", [[1.0, 5.0, 3.0], (1, 5, 3), np.array([1.0, 5.0, 3.0]), np.array([1, 5, 3], "int16"),
                                   np.float32([1, 5, 3])], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16", "uint8"])
def test_comparisons_with_lists_and_arrays(other, dtype):
    x = ap.tensor([1, 2, 3], dtype)
    assert (x == other).tolist() == (other == x).tolist() == [True, False, True]
    assert (x != other).tolist() == [False, True, False] and (x < other).tolist() == [False, True, False]
    assert (x >= other).tolist() == [True, False, True] and (other > x).tolist() == [False, True, False]


def test_what_comparisons_take():
    x = ap.tensor([0.1, 2.0])
    assert (x == [0.1, 3]).tolist() == [True, False]  # numbers in lists are of the tensor's dtype
    assert (x == np.array([0.1, 2.0])).tolist() == [False, True]  # arrays have their own
    assert (ap.tensor([1, 2]) == [1.5, 2]).tolist() == [False, True]
    assert (ap.tensor([[1], [2]]) == [1, 2]).tolist() == [[True, False], [False, True]]
    assert (ap.tensor([1j, 2]) == np.array([1j, 3])).tolist() == [True, False]
    for other in (None, "ab", b"ab", {}, object()):
        assert (x == other) is False and (x != other) is True
    with pytest.raises(TypeError, match="must be a number, got str 'a'"):
        x == ["a", "b"]
    with pytest.raises(ValueError):
        x == [1.0, 2.0, 3.0]


def test_formats():
    loss = ap.tensor(2.34567)
    assert f"{loss:.3f}" == "2.346" and f"{ap.tensor([7]):04d}" == "0007" and f"{loss}" == str(loss)
    assert f"{ap.tensor(2.5, 'bfloat16'):.2f} {ap.tensor(1 + 2j):.1f}" == "2.50 1.0+2.0j"
    with pytest.raises(TypeError, match="format '.3f' applies to one number, but f32\\[2\\] has 2; format each of x.tolist"):
        f"{ap.ones([2]):.3f}"


@pytest.mark.parametrize("placement", [dist.Partial(), dist.Shard(0), dist.Replicate(), dist.Partial("max")], ids=str)
def test_one_rank_has_the_whole_value(placement):
    mesh = dist.ProcessMesh([[0]], ["dp", "tp"])
    x = dist.reshard(dist.shard_tensor([2.5], mesh, [dist.Replicate()] * 2), mesh, [placement, dist.Replicate()])
    assert float(x) == x.item() == 2.5 and int(x) == 2 and bool(x) and f"{x:.1f}" == "2.5"
    assert x.tolist() == x.numpy().tolist() == np.asarray(x).tolist() == [2.5]


def test_mesh_dims_of_more_ranks_need_the_whole():
    def body():
        mesh = dist.ProcessMesh([[0], [1]], ["dp", "tp"])
        x = dist.shard_tensor([2.5], mesh, [dist.Replicate()] * 2)
        with pytest.raises(ValueError, match=r"float\(\) of .* this rank stores only a shard"):
            float(dist.reshard(x, mesh, [dist.Partial(), dist.Replicate()]))
        return float(dist.reshard(x, mesh, [dist.Replicate(), dist.Partial()]))
    assert dist.run_ranks(2, body) == [2.5, 2.5]


def test_numbers_of_distributed_integers_are_exact():
    mesh = dist.ProcessMesh([0])
    assert int(dist.shard_tensor([2**62 + 1], mesh, [dist.Shard(0)])) == 2**62 + 1


@pytest.mark.parametrize("args, dtype", [
    ((4,), "int64"), ((0,), "int64"), ((2, 5), "int64"), ((1, 8, 3), "int64"), ((5, 0, -2), "int64"),
    ((2.5,), "float32"), ((0, 1, 0.25), "float32"), ((1.0, 3), "float32")])
def test_arange(args, dtype):
    x = ap.arange(*args)
    assert x.dtype == dtype and x.tolist() == np.arange(*args).tolist()
    assert ap.arange(*args, dtype="float64").dtype == "float64"
    assert ap.arange(0, end=3, step=1, dtype="int32").tolist() == [0, 1, 2]


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
