"""The name map: which of our operators is called for one of PyTorch's, and with what arguments.

A row is a function with the parameters of PyTorch's operator, over our tensors. calls/*.py have them.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import autophi as ap

ROWS = {}

# Sums of many products, and what is steep: their last digits are the order of the sums.
ROUNDED = {"float32": (1e-4, 1e-4)}
STEEP = {"float32": (1e-3, 1e-3)}


class NoCounterpart(Exception):
    """This form of the call is one that our operator does not have; the text says which."""


@dataclasses.dataclass(frozen=True)
class Row:
    """How one OpInfo is run through our operators."""
    call: Callable[..., Any]
    # Of PyTorch's results, those that ours are compared with.
    pick: Callable[[Any], Any] | None
    # What is compared of both sides' results, where these are unique up to a factor only.
    of_both: Callable[[Any], Any] | None
    # Tolerances (relative, absolute) by the name of the dtype, where PyTorch's rule for it is too narrow.
    tolerance: dict[str, tuple[float, float]] | None
    gradients: bool


def call(*names, pick=None, of_both=None, tolerance=None, gradients=True):
    """Decorates the function that stands for the OpInfos `names` ("name" or "name/variant")."""

    def register(function):
        for name in names:
            add(name, function, pick=pick, of_both=of_both, tolerance=tolerance, gradients=gradients)
        return function

    return register


def add(name, function, *, pick=None, of_both=None, tolerance=None, gradients=True):
    if name in ROWS:
        raise ValueError(f"{name} is mapped twice")
    ROWS[name] = Row(function, pick, of_both, tolerance, gradients)


def same(*names, **options):
    """OpInfos whose parameters are those of our operator of the same name."""
    for name in names:
        add(name, getattr(ap, name), **options)


def named(**ours):
    """OpInfos whose parameters are those of our operator of another name."""
    for name, operator in ours.items():
        add(name, getattr(ap, operator))


def load():
    """All rows."""
    from opinfo import calls
    for module in pkgutil.iter_modules(calls.__path__):
        importlib.import_module(f"opinfo.calls.{module.name}")
    return ROWS
