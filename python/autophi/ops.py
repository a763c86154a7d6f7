"""All operators, generated from the YAML that C++ uses, and those of loaded libraries."""

import numbers
import os
import sys

from autophi import _autophi

_made = _autophi.ops
__all__ = [name for name in dir(_made) if not name.startswith("_")]
globals().update((name, getattr(_made, name)) for name in __all__)


def _is_whole(number):
    return number.dtype.is_integral if isinstance(number, _autophi.Tensor) else isinstance(number, numbers.Integral)


def arange(start, end=None, step=1, dtype=None, place=None):
    """arange(start, end, step, dtype, place) -> out

    The numbers start, start + step, .. before `end`; arange(n) has 0 to n - 1. `dtype`: by default int64, and
    float32 where start, end or step is a float.

    Gradient   none
    Errors     ValueError for a step of 0
    Source     yaml/ops/creation.yaml
    """
    first, last = (0, start) if end is None else (start, end)
    if dtype is None:
        is_whole = _is_whole(first) and _is_whole(last) and _is_whole(step)
        dtype = "int64" if is_whole else "float32"
    return _made.arange(first, last, step, dtype, place)


def load_ops(path: str | os.PathLike[str]) -> list[str]:
    """Load a library of operators (built by autophi_add_ops) and return their names.

    The operators become functions of `autophi` and methods of Tensor. Loading a library again does nothing.

    Errors: LookupError if the file does not exist; ValueError if it is not such a library, was built against other
    headers, or contains an operator that exists already.
    """
    names = _autophi.load_ops(str(path))
    for module in (sys.modules[__name__], sys.modules["autophi"]):
        for name in names:
            setattr(module, name, getattr(_made, name))
    return names
