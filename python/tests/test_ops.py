"""Operators as functions, methods and signs; how arguments are given, and what is said of wrong ones."""

import inspect
import keyword

import numpy as np
import pytest

import autophi as ap

X = [[1.0, -2.0], [3.0, 4.0]]


def test_function_method_and_sign_are_one():
    x, y = ap.tensor(X), ap.tensor([[2.0, 2.0], [0.5, 1.0]])
    expected = (np.array(X) + y.numpy()).tolist()
    assert ap.add(x, y).tolist() == x.add(y).tolist() == (x + y).tolist() == expected
    assert ap.Tensor.add is ap.add


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("other", ["y", "2.0", "3"])
def test_signs_agree_with_numpy(sign, other):
    a, y = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([[2.0, 2.0], [0.5, 1.0]], np.float32)
    x, t = ap.tensor(a), ap.tensor(y)
    for text in (f"a {sign} {other}", f"{other} {sign} a"):
        expected = eval(text, {"a": a, "y": y})
        actual = eval(text, {"a": x, "y": t})
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("sign", ["&", "|", "^"])
def test_signs_of_integers(sign):
    a, b = np.array([1, 6, 12]), np.array([3, 5, 10])
    expected = eval(f"a {sign} b")
    assert eval(f"x {sign} y", {"x": ap.tensor(a), "y": ap.tensor(b)}).tolist() == expected.tolist()
    assert (~ap.tensor(a)).tolist() == (~a).tolist()


def test_signs_of_one():
    x = ap.tensor(X)
    assert (-x).tolist() == [[-1, 2], [-3, -4]] and abs(x).tolist() == [[1, 2], [3, 4]] and +x is x
    assert (x @ x).tolist() == (np.array(X) @ np.array(X)).tolist()


@pytest.mark.parametrize("sign", ["+", "-", "*", "/"])
def test_inplace_signs_write_to_every_handle(sign):
    x = ap.tensor(X)
    other, before = x.detach(), x
    space = {"x": x}
    exec(f"x {sign}= 2.0\nx {sign}= x", space)
    a = np.array(X)
    expected = eval(f"(a {sign} 2.0) {sign} (a {sign} 2.0)")
    assert space["x"] is before and other.tolist() == expected.tolist()


def test_inplace_functions_return_their_argument():
    x = ap.tensor(X)
    assert x.add_(x) is x and ap.relu_(x) is x and x.tolist() == [[2, 0], [6, 8]]


def test_signs_with_what_is_no_number():
    x = ap.tensor(X)
    for other in ("a", [1.0], None, np.ones([2, 2]), object()):
        with pytest.raises(TypeError, match="unsupported operand|does not support ufuncs"):
            x + other
        with pytest.raises(TypeError):
            other + x
    assert (x == None) is False and (x != None) is True  # noqa: E711
    with pytest.raises(ValueError, match="int64 has no such number"):
        ap.tensor([1]) + 0.5


@pytest.mark.parametrize("call, words", [
    ("ap.matmul(x, x, transpose_x='yes')", "matmul: argument 'transpose_x' must be bool, got str 'yes'"),
    ("ap.matmul(x, x, 1)", "matmul: argument 'transpose_x' must be bool, got int 1"),
    ("ap.matmul(x, 3)", "matmul: argument 'y' must be Tensor, got int 3"),
    ("ap.matmul(x, None)", "matmul: argument 'y' must be Tensor, got None"),
    ("x.matmul()", "matmul: argument 'y' is missing"),
    ("ap.matmul()", "matmul: argument 'x' is missing"),
    ("ap.relu(x, x)", "relu takes 1 argument (x), got 2"),
    ("ap.matmul(x, x, transpose=True)",
     "matmul has no argument 'transpose', did you mean 'transpose_x'?; its arguments are (x, y, transpose_x, transpose_y)"),
    ("ap.matmul(x, y=x, x=x)", "matmul: argument 'x' is passed twice"),
    ("ap.softmax(x, axis=True)", "softmax: argument 'axis' must be int, got bool True"),
    ("ap.softmax(x, axis=0.5)", "softmax: argument 'axis' must be int, got float 0.5"),
    ("ap.sum(x, axis='a')", "sum: argument 'axis' must be int or a list of int, got str 'a'"),
    ("ap.reshape(x, [2, 1.5])", "reshape: argument 'shape[1]' must be int, got float 1.5"),
    ("ap.leaky_relu(x, 'a')", "leaky_relu: argument 'negative_slope' must be float, got str 'a'"),
    ("ap.scale(x, 'a')", "scale: argument 'scale' must be a number, got str 'a'"),
    ("ap.concat(x)", "concat: argument 'x' must be a list of Tensor, got Tensor f32[2,2]"),
    ("ap.concat([x, 1])", "concat: argument 'x[1]' must be Tensor, got int 1"),
    ("ap.cast(x, 3)", "cast: argument 'dtype' must be a dtype such as autophi.float32 or 'float32', got int 3"),
    ("ap.label_smooth(x, 1)", "label_smooth: argument 'prior_dist' must be Tensor or None, got int 1"),
    ("ap.kldiv_loss(x, x, 7)", "kldiv_loss: argument 'reduction' must be str, got int 7"),
])
def test_wrong_types_are_named(call, words):
    with pytest.raises(TypeError) as error:
        eval(call, {"ap": ap, "x": ap.tensor(X)})
    assert str(error.value) == words


@pytest.mark.parametrize("call, kind, words", [
    ("ap.matmul(x, ap.tensor([1.0, 2.0, 3.0]))", ValueError, "[matmul] x is f32[2,2] and y is f32[3]"),
    ("ap.softmax(x, axis=2**40)", ValueError,
     "softmax: argument 'axis' must be between -2147483648 and 2147483647, got 1099511627776"),
    ("ap.reshape(x, [2**70])", ValueError, "reshape: argument 'shape' must fit into 64 bits"),
    ("ap.cast(x, 'floot')", ValueError, "cast: argument 'dtype' is 'floot', which is not a dtype"),
    ("ap.full([2], 1, place='moon')", ValueError, "full: argument 'place' must be a place such as 'cpu'"),
    ("ap.relu(ap.tensor([True]))", NotImplementedError, "relu"),
    ("ap.full([2**45], 1.0)", MemoryError, "cannot allocate"),
])
def test_errors_of_the_library_have_a_fitting_class(call, kind, words):
    with pytest.raises(kind) as error:
        eval(call, {"ap": ap, "x": ap.tensor(X)})
    assert words in str(error.value)


def test_arguments_of_every_kind():
    x = ap.tensor(X)
    assert ap.sum(x, axis=0).tolist() == ap.sum(x, axis=[0]).tolist() == [4, 2]
    assert ap.sum(x, axis=(0, 1), keepdim=True).shape == (1, 1)
    assert ap.sum(x, axis=np.int32(1), keepdim=np.bool_(True)).tolist() == [[-1], [7]]
    assert ap.full([2], np.float64(1.5), "float64").tolist() == [1.5, 1.5]
    assert ap.full([1], True, ap.bool_).tolist() == [True]
    assert ap.full([1], 2**62 + 1, "int64").item() == 2**62 + 1
    assert ap.full([1], 3.0, place="cpu").place == "cpu" and ap.full([1], 3.0, place=None).item() == 3
    assert ap.label_smooth(x).shape == ap.label_smooth(x, None).shape == (2, 2)
    assert ap.concat([x, x], axis=1).shape == (2, 4) and ap.concat((x,), 0).shape == (2, 2)
    assert ap.scale(x, 2, bias=1.0).tolist() == [[3, -3], [7, 9]]
    assert ap.leaky_relu(x, 1).tolist() == X  # an int is a float


def test_results_of_every_kind():
    x = ap.tensor([[3.0, 1.0, 2.0]])
    values, indices = ap.topk(x, 2)
    assert values.tolist() == [[3, 2]] and indices.tolist() == [[0, 2]]
    parts = ap.split(x, [1, 2], axis=1)
    assert [part.shape for part in parts] == [(1, 1), (1, 2)] and isinstance(parts, list)
    q = ap.ones([1, 2, 1, 4])
    rotated = ap.fused_rotary_position_embedding(q)
    assert rotated[0].shape == (1, 2, 1, 4) and rotated[1:] == (None, None)


def test_every_operator_tells_what_it_takes():
    names = [name for name in ap.ops.__all__]
    assert len(names) > 500
    for name in names:
        function = getattr(ap, name)
        parameters = inspect.signature(function).parameters
        assert not any(map(keyword.iskeyword, parameters))
        assert function.__doc__.startswith(f"{name}("), name
        assert "Gradient " in function.__doc__ and "Errors " in function.__doc__
    assert "Dtypes     bool, uint8" in ap.add.__doc__
    assert str(inspect.signature(ap.matmul)) == "(x, y, transpose_x=False, transpose_y=False)"
    assert repr(ap.matmul) == "<operator autophi.matmul>" and ap.matmul.__module__ == "autophi"


def test_operators_are_pickled_by_name():
    import pickle
    assert pickle.loads(pickle.dumps(ap.matmul)) is ap.matmul


def test_a_call_keeps_no_reference():
    import sys
    x = ap.tensor(X)
    name = "transpose_x"
    before = sys.getrefcount(x), sys.getrefcount(ap.matmul), sys.getrefcount(name), sys.getrefcount(None)
    for _ in range(100):
        ap.matmul(x, x, **{name: True})
        x.add_(x)
        try:
            ap.matmul(x, "a")
        except TypeError:
            pass
        try:
            ap.matmul(x, ap.ones([3]))
        except ValueError:
            pass
    after = sys.getrefcount(x), sys.getrefcount(ap.matmul), sys.getrefcount(name), sys.getrefcount(None)
    assert all(abs(a - b) < 20 for a, b in zip(before, after)), (before, after)


def test_threads_call_operators_at_once():
    from concurrent.futures import ThreadPoolExecutor
    x = ap.ones([64, 128])

    def work(i):
        y = x
        for _ in range(20):
            y = y + float(i)
        return y[0, 0].item()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(16))) == [1.0 + 20 * i for i in range(16)]


@pytest.mark.parametrize("call", [
    "ap.zeros([2**32, 2**32])", "ap.zeros([2**61])", "ap.zeros([0, 2**32, 2**32])", "ap.eye(2**32)", "ap.arange(0, 2**61, 1)",
    "ap.tile(x, [2**62])", "ap.tile(x, [2**32, 2**32])", "ap.one_hot(ap.tensor([1]), 2**61)",
    "ap.matmul(ap.zeros([2**32, 0]), ap.zeros([0, 2**32]))", "ap.zeros([0]).reshape([0, 2**32, 2**32])",
    "ap.zeros([0]).reshape([2**32, 2**32, -1])", "x.reshape([2**32, 2**32])", "ap.expand(x[:1], [2**32, 2**32])",
    "ap.concat([ap.zeros([2**62, 0]), ap.zeros([2**62, 0])], 0)", "ap.full([2**31, 2**31, 4], 1.0)",
    "ap.repeat_interleave(ap.zeros([2**62, 0]), 4, 0)", "ap.gaussian([2**32, 2**32])",
    "ap.pad(ap.zeros([2**62, 0]), [2**30, 0, 2**30, 2**30], 0.0)",
])
def test_sizes_beyond_64_bits_are_refused(call):
    with pytest.raises((ValueError, MemoryError), match="is too large|does not fit in 63 bits|allocate"):
        eval(call, {"ap": ap, "x": ap.ones([2])})


def test_numbers_that_a_dtype_does_not_hold_are_refused():
    x = ap.zeros([3], "uint8")
    for call, words in [
        (lambda: ap.full([2], 300, "uint8"), "value is 300, but numbers of uint8 are from 0 to 255"),
        (lambda: ap.full([2], -1, "uint8"), "value is -1"), (lambda: x.fill_(300), "value is 300"),
        (lambda: ap.full([2], float("nan"), "int32"), "value is nan"), (lambda: ap.full([2], 1e39, "float32"), "value is 1e[+]39"),
        (lambda: ap.arange(0, 300, 1, "uint8"), "the last number before end is 299"),
        (lambda: ap.linspace(0, 300, 4, "uint8"), "stop is 300"), (lambda: ap.pad(x, [1, 1], 300), "pad_value is 300"),
        (lambda: ap.assign_value([2], "int8", [1, 128]), "values is 128"),
        (lambda: ap.set_value(x, [0], [1], [1], [0], [], [], [1], [300]), "values is 300"),
        (lambda: ap.full_like(x, 256), "value is 256"),
        (lambda: x.__setitem__(0, 300), "uint8 has no such number"),
        (lambda: ap.ones([2], "float16").__setitem__(0, 7e4), "value is 70000, but numbers of float16"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert x.tolist() == [0, 0, 0]
    assert ap.full([1], 255, "uint8").tolist() == [255] and ap.arange(0, 256, 1, "uint8").tolist()[-1] == 255
    assert ap.full([1], float("inf")).tolist() == [float("inf")] and ap.full([1], 2**63 - 1, "int64").tolist() == [2**63 - 1]
