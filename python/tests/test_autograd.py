"""Gradients: backward, grad, hooks, and where nothing is tracked."""

import gc
import threading
import traceback
import weakref

import numpy as np
import pytest

import autophi as ap


def leaf(data):
    return ap.tensor(data, requires_grad=True)


def test_backward_adds_to_leaves():
    x = leaf([1.0, 2.0, 3.0])
    for passes in (1, 2):
        (x * x).sum().backward()
        assert x.grad.tolist() == [2.0 * passes, 4.0 * passes, 6.0 * passes]
    x.grad = None
    assert x.grad is None
    (x * 3.0).backward(ap.tensor([1.0, 0.0, 2.0]))
    assert x.grad.tolist() == [3, 0, 6]
    x.clear_grad()
    assert x.grad is None


def test_leaves_and_others():
    x = leaf([1.0])
    y = x * 2.0
    assert x.is_leaf and not y.is_leaf and y.requires_grad and not y.detach().requires_grad
    assert not ap.tensor([1.0]).requires_grad
    assert ap.tensor([1.0]).requires_grad_().requires_grad
    with pytest.raises(ValueError, match="i64"):
        ap.tensor([1]).requires_grad = True
    with pytest.raises(RuntimeError, match="detach"):
        y.requires_grad = False
    with pytest.raises(TypeError, match="argument 'requires_grad' must be bool, got int 1"):
        x.requires_grad = 1
    with pytest.raises(ValueError, match="grad can be set to None only"):
        x.grad = 1


def test_errors_of_a_pass():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    with pytest.raises(RuntimeError, match="require"):
        ap.tensor([1.0]).backward()
    with pytest.raises(ValueError):
        (x * 2.0).backward()
    kept = (x * x).sum()
    kept.backward(retain_graph=True)
    kept.backward()
    assert x.grad.tolist() == [6, 12]


def test_grad_leaves_leaves_alone():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = (x * y).sum()
    gx, gy = ap.grad(z, [x, y])
    assert gx.tolist() == [3, 4] and gy.tolist() == [1, 2] and x.grad is None
    assert ap.grad((x * 2.0).sum(), [x, y])[1] is None
    assert ap.grad([x * x], x, [ap.tensor([1.0, 0.0])])[0].tolist() == [2, 0]
    with pytest.raises(TypeError, match="grad: argument 'inputs' must be a Tensor or a list of Tensor"):
        ap.grad((x * 2.0).sum(), [1])


def test_no_grad():
    x = leaf([1.0])
    with ap.no_grad():
        assert not ap.is_grad_enabled() and not (x * 2.0).requires_grad
        with ap.enable_grad():
            assert (x * 2.0).requires_grad
        assert not (x * 2.0).requires_grad
        x += 1.0
    assert ap.is_grad_enabled() and x.tolist() == [2] and x.requires_grad

    @ap.no_grad()
    def untracked(depth):
        """Its text stays."""
        return (untracked(depth - 1) if depth else x * 2.0)

    assert not untracked(2).requires_grad and untracked.__doc__ == "Its text stays."
    assert ap.is_grad_enabled()
    with pytest.raises(KeyError), ap.no_grad():
        raise KeyError
    assert ap.is_grad_enabled()


def test_no_grad_is_of_its_thread():
    seen = []
    with ap.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ap.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_hooks_see_and_change_gradients():
    x = leaf([1.0, 2.0])
    y = x * 3.0
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10.0)
    y.sum().backward()
    assert seen == [[1, 1]] and x.grad.tolist() == [30, 30]
    with pytest.raises(RuntimeError):
        ap.tensor([1.0]).register_hook(print)


def failing_hook(gradient):
    raise KeyError("of the hook")


def test_an_error_in_a_hook_keeps_its_traceback():
    x = leaf([1.0])
    y = x * 2.0
    y.register_hook(failing_hook)
    with pytest.raises(KeyError, match="of the hook") as error:
        y.sum().backward()
    assert "failing_hook" in "".join(traceback.format_exception(error.value))
    z = x * 2.0
    z.register_hook(lambda g: 3)
    with pytest.raises(TypeError, match="return value of the hook' must be Tensor or None, got int 3"):
        z.sum().backward()


def test_a_hook_is_let_go_of():
    class Hook:
        def __call__(self, gradient):
            return None

    x = leaf([1.0])
    hook = Hook()
    ended = weakref.ref(hook)
    y = x * 2.0
    y.register_hook(hook)
    del hook
    gc.collect()
    assert ended() is not None
    del y
    gc.collect()
    assert ended() is None


def test_recompute_calls_again():
    x = leaf([0.5, 1.0])
    calls = []

    def f(a, b):
        calls.append(ap.is_grad_enabled())
        return ap.exp(a) * b

    y = ap.recompute(f, x, x)
    assert len(calls) == 1
    y.sum().backward()
    expected = (1 + np.array([0.5, 1.0])) * np.exp([0.5, 1.0])
    assert len(calls) == 2
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)

    def fails(a):
        raise KeyError("again")

    with pytest.raises(KeyError, match="again"):
        ap.recompute(fails, x)
    with pytest.raises(TypeError, match="return value of the function' must be Tensor, got int 3"):
        ap.recompute(lambda a: 3, x)


def test_a_saved_value_that_was_written_to():
    x = leaf([1.0, 2.0])
    y = x * 2.0
    z = y * y
    y += 1.0
    with pytest.raises(RuntimeError, match="multiply|y"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        x += 1.0


def test_a_regression_learns():
    rng = np.random.default_rng(1)
    a, w = rng.standard_normal((64, 3)).astype("float32"), np.array([[1.0], [-2.0], [0.5]], "float32")
    x, target = ap.tensor(a), ap.tensor(a @ w)
    guess = leaf(np.zeros((3, 1), "float32"))
    for _ in range(200):
        loss = ((x @ guess - target) ** 2).mean()
        loss.backward()
        with ap.no_grad():
            guess -= 0.1 * guess.grad
        guess.grad = None
    np.testing.assert_allclose(guess.numpy(), w, atol=1e-3)
