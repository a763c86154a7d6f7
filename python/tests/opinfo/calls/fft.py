"""Fourier transforms. A length other than the tensor's is reached by ours before the call."""

import autophi as ap
from opinfo.calls.arguments import axes_of, only, wrapped
from opinfo.registry import ROUNDED, call


def _forward_norm(norm):
    return norm or "backward"


def _complex(x):
    return x if x.dtype.is_complex else ap.complex(x, ap.zeros_like(x))


def _resized(x, axes, lengths):
    for axis, length in zip(axes, lengths):
        if length is None or length == -1 or length == x.shape[axis]:
            continue
        if length < x.shape[axis]:
            x = ap.slice(x, [axis], [0], [length])
        else:
            widths = [0] * (2 * x.ndim)
            widths[2 * axis + 1] = length - x.shape[axis]
            only(not x.dtype.is_complex, "complex numbers that are padded")
            x = ap.pad(x, widths, 0.0)
    return x


def _axes(x, s, dim, by_default):
    if dim is None:
        dim = range(-len(s), 0) if s is not None else by_default(x)
    return [wrapped(axis, x.ndim) for axis in axes_of(list(dim) if not isinstance(dim, int) else dim)]


def _c2c(x, s, axes, norm, forward):
    return ap.fft_c2c(_complex(_resized(x, axes, s or [])), axes, _forward_norm(norm), forward)


def _r2c(x, s, axes, norm, forward):
    return ap.fft_r2c(_resized(x, axes, s or []), axes, _forward_norm(norm), forward, True)


def _c2r(x, s, axes, norm, forward):
    x = _resized(x, axes[:-1], (s or [])[:-1])
    last = s[-1] if s and s[-1] not in (None, -1) else 2 * (x.shape[axes[-1]] - 1)
    needed = last // 2 + 1
    only(x.shape[axes[-1]] >= needed, "frequencies that are padded")
    x = _resized(x, axes[-1:], [needed])
    return ap.fft_c2r(_complex(x), axes, _forward_norm(norm), forward, last)


def _one(transform, forward):
    def run(x, n=None, dim=-1, norm=None):
        return transform(x, None if n is None else [n], [wrapped(dim, x.ndim)], norm, forward)

    return run


def _two(transform, forward):
    def run(x, s=None, dim=(-2, -1), norm=None):
        return transform(x, s, _axes(x, s, dim, None), norm, forward)

    return run


def _many(transform, forward):
    def run(x, s=None, dim=None, norm=None):
        return transform(x, s, _axes(x, s, dim, lambda x: range(x.ndim)), norm, forward)

    return run


for _count, _make in {"": _one, "2": _two, "n": _many}.items():
    for _name, _transform, _forward in (("fft", _c2c, True), ("ifft", _c2c, False), ("rfft", _r2c, True),
                                        ("ihfft", _r2c, False), ("irfft", _c2r, False), ("hfft", _c2r, True)):
        call(f"fft.{_name}{_count}", tolerance=ROUNDED)(_make(_transform, _forward))
