"""Memory shared with NumPy and other libraries, by the buffer protocol and by DLPack."""

import array
import ctypes
import gc

import numpy as np
import pytest

import autophi as ap
import autophi.distributed as dist

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
                "complex128"]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_from_numpy_and_back_share_the_bytes(dtype):
    a = np.array([[0, 1, 1], [1, 0, 0]], dtype)
    x = ap.from_numpy(a, copy=False)
    assert x.dtype == dtype and x.shape == (2, 3) and x.tolist() == a.tolist()
    a[0, 0] = 1
    assert x[0, 0].item() == 1
    b = x.numpy()
    assert b.dtype == a.dtype
    b[1, 1] = 1
    assert a[1, 1] == 1 and np.shares_memory(a, b)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_dlpack_shares_the_bytes_with_numpy(dtype):
    a = np.array([[0, 1, 1], [1, 0, 0]], dtype)
    x = ap.from_dlpack(a)
    x[0, 0] = True if dtype == "bool" else 1
    assert a[0, 0] == 1
    b = np.from_dlpack(x)
    assert np.shares_memory(a, b) and b.dtype == a.dtype
    assert x.__dlpack_device__() == (1, 0)


def test_parts_do_not_see_what_numpy_writes():
    x = ap.ones([64, 64])
    before = x[0:32]
    a = x.numpy()
    after = x[0:32]
    a[0, 0] = 5
    assert x[0, 0].item() == 5
    assert before[0, 0].item() == 1 and after[0, 0].item() == 1


def test_whoever_shares_keeps_the_bytes():
    a = np.arange(4.0)
    x = ap.from_numpy(a, copy=False)
    y = x.reshape([2, 2])
    del a, x
    gc.collect()
    b = y.numpy()
    del y
    gc.collect()
    assert b.tolist() == [[0, 1], [2, 3]]
    c = np.from_dlpack(ap.from_dlpack(b))
    del b
    gc.collect()
    assert c.tolist() == [[0, 1], [2, 3]]


def test_an_array_is_let_go_of():
    import weakref
    a = np.arange(4.0)
    ended = weakref.ref(a)
    x = ap.from_numpy(a, copy=False)
    y = ap.from_dlpack(a)
    z = (x + y).tolist()
    del a, x
    assert ended() is not None
    del y
    gc.collect()
    assert ended() is None and z == [0, 2, 4, 6]


READ_ONLY = np.arange(6.0)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("a, why", [
    (np.arange(12.0).reshape(3, 4).T, "not row-major"), (np.arange(12.0)[::2], "not row-major"),
    (np.arange(12.0)[::-1], "not row-major"), (READ_ONLY, "read-only"),
    (np.arange(6).astype(">i4"), "in the other byte order"), (np.arange(6).astype(">c8"), "in the other byte order"),
    (np.frombuffer(bytearray(20), np.uint8)[1:17].view(np.float64), "not aligned"),
], ids=["transposed", "stepped", "backwards", "read-only", "swapped", "swapped complex", "unaligned"])
def test_memory_that_cannot_be_shared_is_copied_or_refused(a, why):
    for x in (ap.tensor(a), ap.from_numpy(a), ap.from_numpy(a, copy=True)):
        assert x.shape == a.shape and x.tolist() == a.tolist()
        assert not np.shares_memory(x.numpy(), a)
    with pytest.raises(ValueError) as error:
        ap.from_numpy(a, copy=False)
    assert f"cannot be shared: it" in str(error.value) and why in str(error.value)
    assert "autophi.tensor(array) copies it" in str(error.value)


@pytest.mark.parametrize("a", [np.arange(12.0).reshape(3, 4).T, np.arange(12.0)[::-1], READ_ONLY])
def test_dlpack_of_memory_that_cannot_be_shared(a):
    x = ap.from_dlpack(a)
    assert x.tolist() == a.tolist() and not np.shares_memory(x.numpy(), a)
    with pytest.raises(BufferError, match="cannot be shared"):
        ap.from_dlpack(a, copy=False)


@pytest.mark.parametrize("a", [np.array(["a", "b"]), np.array([1, 2], "uint16"), np.array([None]),
                               np.array(["2020-01-01"], "datetime64[D]"), np.array([1.0], "longdouble"),
                               np.zeros(2, [("a", "f4"), ("b", "i4")])], ids=lambda a: str(a.dtype))
def test_dtypes_that_are_none_of_ours(a):
    for call in (ap.tensor, ap.from_numpy):
        with pytest.raises((TypeError, ValueError)):
            call(a)


def test_from_numpy_of_what_is_no_array():
    with pytest.raises(TypeError, match="expected an array, got int 3"):
        ap.from_numpy(3)
    with pytest.raises(TypeError, match="expected an array with __dlpack__"):
        ap.from_dlpack([1.0])


def test_arrays_of_the_standard_library():
    a = array.array("d", [1.0, 2.0])
    x = ap.from_numpy(a, copy=False)
    x += 1
    assert a.tolist() == [2, 3]
    assert memoryview(x).tolist() == [2, 3] and memoryview(x).format == "d"
    assert ap.tensor(bytearray(b"\1\2")).tolist() == [1, 2]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 1)])
def test_small_and_empty_arrays(shape):
    a = np.zeros(shape, np.float32)
    for x in (ap.from_numpy(a), ap.from_dlpack(a), ap.tensor(a)):
        assert x.shape == shape
        assert x.numpy().shape == shape and np.from_dlpack(x).shape == shape
        assert (x + 1).numpy().tolist() == (a + 1).tolist()


def test_bfloat16_has_no_array():
    x = ap.tensor([1.5, 2.0], "bfloat16")
    try:
        import ml_dtypes
    except ImportError:
        for convert in (lambda x: x.numpy(), np.asarray, np.array, lambda x: np.stack([x])):
            with pytest.raises(TypeError, match="NumPy has no bfloat16"):
                convert(x)
    else:
        assert x.numpy().dtype == ml_dtypes.bfloat16
        assert ap.from_numpy(x.numpy()).tolist() == [1.5, 2]
    with pytest.raises(BufferError, match="no counterpart"):
        memoryview(x)
    assert ap.from_dlpack(x).tolist() == [1.5, 2.0]


def shared_among(placements, numbers=(0, 1)):
    mesh = dist.ProcessMesh(list(numbers))
    return dist.shard_tensor([1.0, 2.0, 3.0, 4.0], mesh, placements)


@pytest.mark.parametrize("convert", [np.asarray, np.array, lambda x: np.stack([x]), lambda x: np.array([x, x]), lambda x: x.numpy()])
@pytest.mark.parametrize("placement", [dist.Shard(0), dist.Partial(), dist.Partial("max")], ids=str)
def test_numpy_says_where_the_value_is(convert, placement):
    """On one rank alone: it asks nothing of the others, and makes no array of objects."""
    def body():
        x = dist.reshard(shared_among([dist.Replicate()]), dist.ProcessMesh([0, 1]), [placement])
        if dist.rank() == 1:
            with pytest.raises(ValueError, match=r"x.local\(\) returns the shard, distributed.unshard_dtensor"):
                convert(x)
        return np.asarray(dist.unshard_dtensor(x)).tolist()
    assert dist.run_ranks(2, body, deadline=10.0) == [[1.0, 2.0, 3.0, 4.0]] * 2


def test_numpy_of_a_tensor_outside_its_mesh():
    def body():
        x = shared_among([dist.Replicate()], [1])
        if dist.rank() == 1:
            return np.asarray(x).tolist()
        with pytest.raises((ValueError, RuntimeError), match="mesh"):
            np.asarray(x)
        return None
    assert dist.run_ranks(2, body, deadline=10.0) == [None, [1.0, 2.0, 3.0, 4.0]]


def test_numpy_of_a_captured_value():
    @ap.capture
    def reads(x):
        return x * float(np.asarray(x * 2.0)[0])
    with pytest.raises((ValueError, RuntimeError)) as error:
        reads(ap.ones([2]))
    assert "captur" in str(error.value)


def test_array_takes_dtype_and_copy():
    x = ap.tensor([1.0, 2.0])
    assert np.asarray(x, "float64").tolist() == [1, 2] and x.__array__("int32").dtype == np.int32
    assert np.shares_memory(x.__array__(), x.numpy()) and np.shares_memory(x.__array__(copy=False), x.numpy())
    assert not np.shares_memory(x.__array__(copy=True), x.numpy())
    with pytest.raises(ValueError, match="cannot become an array of int32 without a copy; leave out copy=False"):
        x.__array__("int32", copy=False)


class Foreign:
    """An array of another library, as PyTorch's are: a sequence with DLPack, and without the buffer protocol."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, i):
        raise AssertionError("element by element")

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class Convertible:
    """One that NumPy alone can make an array of."""

    def __array__(self, dtype=None, copy=None):
        return np.array([[1, 2]], dtype)


def test_arrays_of_other_libraries():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = ap.tensor(Foreign(values))
    values[0, 0] = 9
    assert x.tolist() == [[1, 2], [3, 4]] and x.dtype == "float64"
    assert ap.tensor(Foreign(np.ones(2)), "int32").dtype == "int32"
    assert ap.tensor(Convertible()).tolist() == [[1, 2]]
    y = ap.zeros([3])
    y[:2] = ap.tensor(Foreign(np.ones(2, "float32")))
    assert y.tolist() == [1, 1, 0] and y[Foreign(np.array([0, 2]))].tolist() == [1, 0]


def test_lists_of_arrays():
    assert ap.tensor([np.array(1.5), np.array(2.0)]).tolist() == [1.5, 2.0]
    assert ap.tensor([[np.array(1), 2], [np.int8(3), 4]]).tolist() == [[1, 2], [3, 4]]
    assert ap.tensor([np.array([1, 2]), np.array([3, 4])]).shape == (2, 2)


def test_what_requires_a_gradient_is_shared_for_reading():
    x = ap.tensor([1.0, 2.0], requires_grad=True)
    a = x.numpy()
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 3
    assert np.from_dlpack(x).flags.writeable is False
    x.detach().numpy()[0] = 3
    assert x.tolist() == [3, 2]


def test_a_view_outlives_an_inplace_change_of_shape():
    x = ap.ones([4])
    a = x.numpy()
    x.reshape_([2, 2])
    x += 1
    assert a.tolist() == [2, 2, 2, 2]


def test_dlpack_arguments():
    x = ap.ones([2])
    for arguments, words in [({"stream": 1}, "stream must be None"), ({"dl_device": (2, 0)}, "stored on a CPU")]:
        with pytest.raises(BufferError, match=words):
            x.__dlpack__(**arguments)
    taken = x.__dlpack__(max_version=(1, 0), copy=True)
    y = ap.from_dlpack(taken)
    y += 1
    assert x.tolist() == [1, 1] and y.tolist() == [2, 2]
    with pytest.raises(ValueError):
        ap.from_dlpack(taken)  # once
    assert ap.from_dlpack(x.__dlpack__()).tolist() == [1, 1]  # the form of before 1.0
    del taken
    x.__dlpack__(), x.__dlpack__(max_version=(1, 0))  # nobody takes them


class ForgedArray(ctypes.Structure):
    """DLTensor of dlpack.h, and what DLManagedTensor adds."""
    _fields_ = [("data", ctypes.c_void_p), ("device_kind", ctypes.c_int32), ("device_index", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def int64s(values):
    return None if values is None else (ctypes.c_int64 * len(values))(*values)


@pytest.mark.parametrize("shape, strides, words", [
    ([-4], None, r"shape \[-4\], strides and address do not describe an array"),
    ([2**40, -1], None, "do not describe an array"),
    ([2**32, 2**32], None, "is too large"),
    ([2**61], None, "with 4 bytes per element is too large"),
    ([0, 2**32, 2**32], None, "is too large"),
    ([2, 2], [2**62, 1], "do not describe an array"),
    ([2, 2], [2**61, 2**61], "do not describe an array"),
    ([1] * 10, None, "at most 9 dims"),
])
def test_dlpack_extents_of_others_are_checked(shape, strides, words):
    data = (ctypes.c_float * 4)(1, 2, 3, 4)
    shape, strides = int64s(shape), int64s(strides)
    array = ForgedArray(ctypes.addressof(data), 1, 0, len(shape), 2, 32, 1, shape, strides, 0, None, None)
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    with pytest.raises((ValueError, BufferError), match=words):
        ap.from_dlpack(new_capsule(ctypes.addressof(array), b"dltensor", None))


def test_dlpack_without_shape_or_data_is_refused():
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for ndim, shape, words in [(-1, None, "has -1 dims but no shape"), (1, None, "has 1 dims but no shape"),
                               (1, [3], "strides and address")]:
        array = ForgedArray(None, 1, 0, ndim, 2, 32, 1, int64s(shape), None, 0, None, None)
        with pytest.raises(BufferError, match=words):
            ap.from_dlpack(new_capsule(ctypes.addressof(array), b"dltensor", None))
