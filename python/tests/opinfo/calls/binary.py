"""Functions of two and three tensors, element by element."""

import autophi as ap
from opinfo.calls.arguments import only, tensor_like
from opinfo.registry import ROUNDED, call, same

same("atan2", "fmax", "fmin", "heaviside", "nextafter", "bitwise_and", "bitwise_or", "bitwise_xor",
     "bitwise_left_shift", "bitwise_right_shift", "logical_and", "logical_or", "logical_xor", "complex", "kron")


def _by_operator(operator):
    def run(x, y):
        return operator(x, y)

    return run


for _names, _operator in {
        ("mul", "__rmul__"): lambda x, y: x * y,
        ("true_divide",): lambda x, y: x / y,
        ("remainder",): lambda x, y: x % y,
        ("floor_divide",): lambda x, y: x // y,
        ("eq",): lambda x, y: x == y,
        ("ne",): lambda x, y: x != y,
        ("lt",): lambda x, y: x < y,
        ("le",): lambda x, y: x <= y,
        ("gt",): lambda x, y: x > y,
        ("ge",): lambda x, y: x >= y,
        ("pow",): lambda x, y: x**y,
        ("__radd__",): lambda x, y: y + x,
        ("__rsub__",): lambda x, y: y - x,
        ("__rdiv__",): lambda x, y: y / x,
        ("__rmod__",): lambda x, y: y % x,
        ("__rpow__",): lambda x, y: y**x,
        ("__rmatmul__",): lambda x, y: y @ x,
        ("__rand__",): lambda x, y: y & x,
        ("__ror__",): lambda x, y: y | x,
        ("__rxor__",): lambda x, y: y ^ x,
}.items():
    call(*_names, tolerance=ROUNDED if _names[0] in ("pow", "__rmatmul__") else None)(_by_operator(_operator))


@call("add")
def add(x, y, alpha=1):
    return x + (y if alpha == 1 else y * alpha)


@call("sub")
def sub(x, y, alpha=1):
    return x - (y if alpha == 1 else y * alpha)


@call("rsub")
def rsub(x, y, alpha=1):
    return y - (x if alpha == 1 else x * alpha)


@call("div/no_rounding_mode", "div/trunc_rounding", "div/floor_rounding")
def div(x, y, rounding_mode=None):
    return ap.trunc(x / y) if rounding_mode == "trunc" else x / y if rounding_mode is None else x // y


@call("maximum", "max/binary")
def maximum(x, y):
    return ap.maximum(x, y)


@call("minimum", "min/binary")
def minimum(x, y):
    return ap.minimum(x, y)


@call("clamp_max")
def clamp_max(x, bound):
    return ap.minimum(x, tensor_like(x, bound))


@call("clamp_min")
def clamp_min(x, bound):
    return ap.maximum(x, tensor_like(x, bound))


@call("igammac")
def igammac(a, x):
    return ap.gammaincc(a, x)


@call("lerp")
def lerp(x, y, weight):
    return ap.lerp(x, y, tensor_like(x, weight))


@call("copysign")
def copysign(x, y):
    return ap.copysign(x, tensor_like(x, y))


@call("dist")
def dist(x, y, p=2):
    return ap.dist(x, y, p)


@call("isclose")
def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return ap.isclose(x, y, rtol, atol, equal_nan)


@call("where")
def where(x, condition, y):
    return ap.where(condition, x, tensor_like(x, y))


@call("masked_fill")
def masked_fill(x, mask, value):
    return ap.where(mask, tensor_like(x, value), x)


@call("sum_to_size")
def sum_to_size(x, *shape):
    return ap.reduce_as(x, ap.zeros(shape[0] if shape and not isinstance(shape[0], int) else shape, x.dtype))


@call("nn.functional.binary_cross_entropy")
def binary_cross_entropy(x, label, weight=None, reduction="mean", size_average=None, reduce=None):
    only(weight is None, "weights")
    return _reduced(ap.bce_loss(x, label), reduction)


@call("nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(x, label, weight=None, reduction="mean", pos_weight=None):
    only(weight is None, "weights")
    if pos_weight is not None:
        pos_weight = label * (pos_weight - 1) + 1  # what one element weighs
    return _reduced(ap.sigmoid_cross_entropy_with_logits(x, label, pos_weight), reduction)


@call("nn.functional.huber_loss")
def huber_loss(x, label, reduction="mean", weight=None, delta=1.0):
    only(weight is None, "weights")
    return _reduced(ap.huber_loss(x, label, delta), reduction)


@call("nn.functional.kl_div")
def kl_div(x, label, reduction="mean", log_target=False):
    return ap.kldiv_loss(x, label, reduction, log_target)


def _reduced(loss, reduction):
    return {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}[reduction]()
