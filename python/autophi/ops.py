"""All operators, made of the same YAML as those of C++; and those of libraries that are loaded."""

import sys

from autophi import _autophi

_made = _autophi.ops
__all__ = [name for name in dir(_made) if not name.startswith("_")]
globals().update((name, getattr(_made, name)) for name in __all__)


def load_ops(path):
    """Loads a library of operators (autophi_add_ops makes them); they are then functions of `autophi`
    and methods of Tensor as all others. Gives their names. A second time nothing happens.

    Errors: LookupError where there is no such file; ValueError for one that is no such library, was built
    against other headers, or brings an operator that is there already.
    """
    names = _autophi.load_ops(str(path))
    for module in (sys.modules[__name__], sys.modules["autophi"]):
        for name in names:
            setattr(module, name, getattr(_made, name))
    return names
