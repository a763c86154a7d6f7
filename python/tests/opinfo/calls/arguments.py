"""What rows share: forms of arguments that PyTorch has and our operators do not."""

import autophi as ap
from opinfo.registry import NoCounterpart


def only(condition, what):
    """The rest of a row is for calls where `condition` holds."""
    if not condition:
        raise NoCounterpart(what)


def tuple_of(value, n):
    """A number for all dims, or one for each."""
    if isinstance(value, int):
        return [value] * n
    return list(value) * n if len(value) == 1 else list(value)


def tensor_like(x, value):
    """A tensor of x's dtype: numbers become one."""
    return value if isinstance(value, ap.Tensor) else ap.full([], value, x.dtype)


def axes_of(dim):
    """dims as our reductions take them; none: all."""
    if dim is None:
        return []
    return [dim] if isinstance(dim, int) else list(dim)


def wrapped(dim, ndim):
    return dim + ndim if dim < 0 else dim


def same_dtype(x, dtype):
    only(dtype is None or dtype == x.dtype, "a result of another dtype")
