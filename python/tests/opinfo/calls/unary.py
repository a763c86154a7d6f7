"""Functions of one tensor, element by element."""

import autophi as ap
from opinfo.calls.arguments import only, tensor_like
from opinfo.registry import ROUNDED, call, named, same

same("abs", "acos", "acosh", "angle", "asinh", "atan", "bitwise_not", "ceil", "conj", "cos",
     "cosh", "digamma", "erf", "erfinv", "exp", "expm1", "floor", "i0", "isfinite", "isinf", "isnan", "lgamma",
     "log", "log10", "log1p", "log2", "logical_not", "real", "reciprocal", "rsqrt", "sigmoid", "sign", "sin",
     "sinh", "sqrt", "square", "tan", "tanh", "trunc")
# Steep where their domain ends.
same("asin", "atanh", tolerance=ROUNDED)
named(**{"special.i0e": "i0e", "special.i1": "i1", "special.i1e": "i1e", "view_as_complex": "as_complex", "conj_physical": "conj",
         "nn.functional.hardswish": "hardswish", "nn.functional.logsigmoid": "logsigmoid",
         "nn.functional.relu": "relu", "nn.functional.relu6": "relu6", "nn.functional.silu": "silu",
         "nn.functional.softsign": "softsign", "nn.functional.tanhshrink": "tanh_shrink", "alias_copy": "assign"})


@call("neg")
def neg(x):
    return -x


@call("positive")
def positive(x):
    return +x


@call("clone", "contiguous")
def copy(x, memory_format=None):
    return ap.assign(x)


@call("polygamma/polygamma_n_0", "polygamma/polygamma_n_1", "polygamma/polygamma_n_2", "polygamma/polygamma_n_3",
      "polygamma/polygamma_n_4", "special.polygamma/special_polygamma_n_0")
def polygamma(x, n):
    return ap.polygamma(x, n)


@call("logit")
def logit(x, eps=None):
    return ap.logit(x, eps or 0.0)


@call("round", "round/decimals_0", "round/decimals_3", "round/decimals_neg_3")
def rounded(x, decimals=0):
    return ap.round(x, decimals)


@call("clamp")
def clamp(x, min=None, max=None):
    if isinstance(min, (int, float)) and isinstance(max, (int, float)):
        return ap.clip(x, min, max)
    x = x if min is None else ap.maximum(x, tensor_like(x, min))
    return x if max is None else ap.minimum(x, tensor_like(x, max))


@call("nn.functional.celu")
def celu(x, alpha=1.0, inplace=False):
    return ap.celu(x, alpha)


@call("nn.functional.elu")
def elu(x, alpha=1.0, inplace=False):
    return ap.elu(x, alpha)


@call("nn.functional.hardshrink")
def hardshrink(x, lambd=0.5):
    return ap.hardshrink(x, lambd)


@call("nn.functional.hardsigmoid")
def hardsigmoid(x, inplace=False):
    return ap.hardsigmoid(x, 1 / 6, 0.5)


@call("nn.functional.hardtanh")
def hardtanh(x, min_val=-1.0, max_val=1.0, inplace=False):
    return ap.hardtanh(x, min_val, max_val)


@call("nn.functional.leaky_relu")
def leaky_relu(x, negative_slope=0.01, inplace=False):
    return ap.leaky_relu(x, negative_slope)


@call("nn.functional.mish")
def mish(x, inplace=False):
    return ap.mish(x, 20.0)


@call("nn.functional.prelu")
def prelu(x, weight):
    return ap.prelu(x, weight, mode="all" if weight.size == 1 else "channel")


@call("nn.functional.rrelu")
def rrelu(x, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    only(not training, "numbers that are drawn")
    return ap.rrelu(x, lower, upper, is_test=True)


@call("nn.functional.selu")
def selu(x, inplace=False):
    return ap.selu(x)


@call("nn.functional.softplus")
def softplus(x, beta=1.0, threshold=20.0):
    return ap.softplus(x, beta, threshold)


@call("nn.functional.softshrink")
def softshrink(x, lambd=0.5):
    return ap.softshrink(x, lambd)


@call("nn.functional.threshold")
def threshold(x, threshold, value, inplace=False):
    return ap.thresholded_relu(x, threshold, value)


@call("nn.functional.gelu")
def gelu(x, approximate="none"):
    return ap.gelu(x, approximate == "tanh")


@call("nn.functional.dropout")
def dropout(x, p=0.5, training=True, inplace=False):
    only(not training or p in (0, 1), "numbers that are drawn")
    return ap.dropout(x, None, p, is_test=not training)


def _cast_to(dtype):
    return lambda x, memory_format=None: ap.cast(x, dtype)


for _name, _dtype in {"bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "char": "int8", "double": "float64",
                      "float": "float32", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
                      "cdouble": "complex128", "cfloat": "complex64"}.items():
    call(_name)(_cast_to(_dtype))
