"""Reductions, norms, scans and order."""

import math

import autophi as ap
from opinfo.calls.arguments import axes_of, only, same_dtype
from opinfo.registry import call


@call("sum")
def sum(x, dim=None, keepdim=False, dtype=None):
    return ap.sum(x, axes_of(dim), keepdim=keepdim, **({} if dtype is None else {"dtype": dtype}))


@call("mean")
def mean(x, dim=None, keepdim=False, dtype=None):
    same_dtype(x, dtype)
    return ap.mean(x, axes_of(dim), keepdim)


@call("prod")
def prod(x, dim=None, keepdim=False, dtype=None):
    same_dtype(x, dtype)
    return ap.prod(x, axes_of(dim), keepdim, dim is None)


@call("amax")
def amax(x, dim=None, keepdim=False):
    return ap.max(x, axes_of(dim), keepdim)


@call("amin")
def amin(x, dim=None, keepdim=False):
    return ap.min(x, axes_of(dim), keepdim)


# Where a maximum is met several times PyTorch's goes to one; samples have distinct numbers.
@call("max/reduction_with_dim", pick=lambda result: result[0])
def max_of_dim(x, dim, keepdim=False):
    return ap.max(x, axes_of(dim), keepdim)


@call("min/reduction_with_dim", pick=lambda result: result[0])
def min_of_dim(x, dim, keepdim=False):
    return ap.min(x, axes_of(dim), keepdim)


@call("max/reduction_no_dim")
def max_of_all(x):
    return ap.max(x)


@call("min/reduction_no_dim")
def min_of_all(x):
    return ap.min(x)


@call("all")
def all(x, dim=None, keepdim=False):
    return ap.all(x, axes_of(dim), keepdim)


@call("any")
def any(x, dim=None, keepdim=False):
    return ap.any(x, axes_of(dim), keepdim)


@call("argmax")
def argmax(x, dim=None, keepdim=False):
    return ap.argmax(x, dim or 0, keepdim, flatten=dim is None)


@call("argmin")
def argmin(x, dim=None, keepdim=False):
    return ap.argmin(x, dim or 0, keepdim, flatten=dim is None)


@call("logsumexp")
def logsumexp(x, dim, keepdim=False):
    return ap.logsumexp(x, axes_of(dim), keepdim)


@call("trace")
def trace(x):
    return ap.trace(x)


@call("linalg.vector_norm")
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    same_dtype(x, dtype)
    only(dim is None or len(axes_of(dim)) == 1, "vectors over several dims")
    if dim is None:
        only(not keepdim, "dims kept where all are reduced")
        return ap.p_norm(x, ord, epsilon=0.0, asvector=True)
    return ap.p_norm(x, ord, axes_of(dim)[0], 0.0, keepdim)


@call("linalg.matrix_norm", "norm/fro")
def matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    only(ord == "fro" and len(axes_of(dim)) == 2 and x.ndim > 1, "norms other than Frobenius'")
    same_dtype(x, dtype)
    return ap.frobenius_norm(x, axes_of(dim), keepdim, False)


@call("norm/inf")
def norm_inf(x, ord=math.inf, dim=None, keepdim=False, dtype=None):
    same_dtype(x, dtype)
    only(isinstance(dim, int), "several dims")
    return ap.p_norm(x, ord, dim, 0.0, keepdim)


@call("renorm")
def renorm(x, p, dim, maxnorm):
    return ap.renorm(x, p, dim, maxnorm)


@call("cumsum")
def cumsum(x, dim, dtype=None):
    same_dtype(x, dtype)
    return ap.cumsum(x, dim)


@call("cumprod")
def cumprod(x, dim, dtype=None):
    same_dtype(x, dtype)
    return ap.cumprod(x, dim)


@call("logcumsumexp")
def logcumsumexp(x, dim):
    return ap.logcumsumexp(x, dim)


@call("cummax")
def cummax(x, dim):
    return ap.cummax(x, dim)


@call("cummin")
def cummin(x, dim):
    return ap.cummin(x, dim)


@call("kthvalue")
def kthvalue(x, k, dim=-1, keepdim=False):
    return ap.kthvalue(x, k, dim, keepdim)


# Which of several equal ones the index names is free.
@call("mode", pick=lambda result: result[0])
def mode(x, dim=-1, keepdim=False):
    return ap.mode(x, dim, keepdim)[0]


@call("median", pick=lambda result: result if not isinstance(result, tuple) else result[0])
def median(x, dim=None, keepdim=False):
    only(not x.size == 0, "nothing")
    return ap.nanmedian(x, axes_of(dim), keepdim, "min")[0]


@call("nanmedian", pick=lambda result: result if not isinstance(result, tuple) else result[0])
def nanmedian(x, dim=None, keepdim=False):
    return ap.nanmedian(x, axes_of(dim), keepdim, "min")[0]


@call("sort")
def sort(x, dim=-1, descending=False, stable=False):
    return ap.argsort(x, dim, descending, True)


@call("msort")
def msort(x):
    return ap.argsort(x, 0)[0]


@call("argsort")
def argsort(x, dim=-1, descending=False, stable=False):
    return ap.argsort(x, dim, descending, True)[1]


@call("topk")
def topk(x, k, dim=-1, largest=True, sorted=True):
    return ap.topk(x, k, dim, largest, sorted)


@call("unique")
def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    only(sorted, "any order")
    out, _, inverse, counts = ap.unique(x, False, return_inverse, return_counts, axes_of(dim))
    if return_inverse and dim is None:
        inverse = ap.reshape(inverse, x.shape) if x.ndim else inverse[0]
    return [out, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]


@call("unique_consecutive")
def unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    out, inverse, counts = ap.unique_consecutive(x, return_inverse, return_counts, axes_of(dim), "int64")
    if return_inverse and dim is None:
        inverse = ap.reshape(inverse, x.shape) if x.ndim else inverse[0]
    return [out, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]


@call("searchsorted")
def searchsorted(sorted_sequence, values, out_int32=False, right=False, side=None, sorter=None):
    only(sorter is None and isinstance(values, ap.Tensor), "an order beside the sequence, or a number")
    return ap.searchsorted(sorted_sequence, values, out_int32, right or side == "right")


@call("bucketize")
def bucketize(values, boundaries, out_int32=False, right=False):
    only(isinstance(values, ap.Tensor), "a number")
    return ap.searchsorted(boundaries, values, out_int32, right)


@call("bincount")
def bincount(x, weights=None, minlength=0):
    return ap.bincount(x, weights, minlength)


@call("histc")
def histc(x, bins=100, min=0, max=0):
    only(min == int(min) and max == int(max), "bounds that are no integers")
    return ap.cast(ap.histogram(x, None, bins, int(min), int(max)), x.dtype)


@call("softmax", "softmax/with_dtype")
def softmax(x, dim, dtype=None):
    return ap.softmax(x if dtype is None else ap.cast(x, dtype), dim)


@call("nn.functional.softmin", "nn.functional.softmin/with_dtype")
def softmin(x, dim, dtype=None):
    return ap.softmax(-(x if dtype is None else ap.cast(x, dtype)), dim)


@call("log_softmax", "log_softmax/with_dtype")
def log_softmax(x, dim, dtype=None):
    return ap.log_softmax(x if dtype is None else ap.cast(x, dtype), dim)
