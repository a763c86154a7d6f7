"""Tensors of nothing, or like another."""

import autophi as ap
from opinfo.calls.arguments import only
from opinfo.registry import call


def _like(x, dtype):
    return x.dtype if dtype is None else dtype


@call("zeros_like")
def zeros_like(x, dtype=None, **_):
    return ap.zeros_like(x, _like(x, dtype))


@call("ones_like")
def ones_like(x, dtype=None, **_):
    return ap.ones_like(x, _like(x, dtype))


@call("full_like")
def full_like(x, value, dtype=None, **_):
    return ap.full_like(x, value, _like(x, dtype))


@call("new_zeros")
def new_zeros(x, size, dtype=None, **_):
    return ap.zeros(size, _like(x, dtype))


@call("new_ones")
def new_ones(x, size, dtype=None, **_):
    return ap.ones(size, _like(x, dtype))


@call("new_full")
def new_full(x, size, value, dtype=None, **_):
    return ap.full(size, value, _like(x, dtype))


@call("zeros")
def zeros(size, dtype, **_):
    return ap.zeros(size, dtype)


@call("ones")
def ones(size, dtype, **_):
    return ap.ones(size, dtype)


@call("full")
def full(size, value, dtype, **_):
    return ap.full(size, value, dtype)


@call("eye")
def eye(n, m=None, dtype="float32", **_):
    only(isinstance(m, int) or m is None, "other forms")
    return ap.eye(n, n if m is None else m, dtype)


@call("arange")
def arange(*bounds, end=None, dtype=None, **_):
    only(dtype is not None, "a dtype that the numbers say")
    if end is not None:
        bounds = (*bounds, end)
    start, end, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
    return ap.arange(start, end, step, dtype)


@call("linspace")
def linspace(start, end, steps, dtype=None, **_):
    only(dtype is not None, "a dtype that the numbers say")
    return ap.linspace(start, end, steps, dtype)


@call("logspace")
def logspace(start, end, steps, base=10.0, dtype=None, **_):
    only(dtype is not None, "a dtype that the numbers say")
    return ap.logspace(start, end, steps, base, dtype)


@call("tril_indices")
def tril_indices(rows, columns, offset=0, dtype="int64", **_):
    return ap.tril_indices(rows, columns, offset, dtype)


@call("triu_indices")
def triu_indices(rows, columns, offset=0, dtype="int64", **_):
    return ap.triu_indices(rows, columns, offset, dtype)


@call("scalar_tensor")
def scalar_tensor(value, dtype=None, **_):
    return ap.full([], value, dtype)


@call("fill")
def fill(x, value):
    only(not isinstance(value, ap.Tensor), "a tensor")
    return ap.fill(x, value)
