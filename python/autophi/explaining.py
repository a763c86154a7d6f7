"""Explanations of the data that calls move, and checks of running calls (docs/explain.md)."""

from collections.abc import Callable, Mapping
from typing import Any

from autophi import _autophi
from autophi._autophi import Tensor
from autophi._autophi.nn import Module

Explanation = _autophi.capture.Explanation


def _names(model: Module | None, names: Mapping[str, Tensor] | None = None) -> list[tuple[str, Tensor]]:
    return [*(() if model is None else model.named_parameters()), *(names or {}).items()]


def explain(function: Callable[..., Any], *args: Any, model: Module | None = None,
            names: Mapping[str, Tensor] | None = None, **kwargs: Any) -> Explanation:
    """Run function(*args) once and return the Explanation of its calls on this rank.

    It contains placements, reshards, bytes and reasons; str() formats a table. Collective. `model`: its parameters are
    shown by name. `names`: other tensors by name.
    """
    return _autophi.capture.explain(lambda: function(*args, **kwargs), _names(model, names))


def expect_moves(function: Callable[..., Any], *args: Any, bytes_at_most: int | None = None,
                 reshards_at_most: int | None = None, model: Module | None = None,
                 names: Mapping[str, Tensor] | None = None, **kwargs: Any) -> None:
    """Run function(*args) once and check the data that it moves, for tests of layouts.

    AssertionError, the same on all ranks, if any rank exceeds a limit. The error lists the largest reshards and their
    reasons. Collective.

    Bytes are those sent or those received in reshards and within kernels, whichever is larger. Reshards include those
    that only slice or copy on a rank.
    """
    _autophi.capture.expect_moves(lambda: function(*args, **kwargs), bytes_at_most=bytes_at_most,
                                  reshards_at_most=reshards_at_most, names=_names(model, names))


def check_ops(function: Callable[..., Any], *args: Any, model: Module | None = None, **kwargs: Any) -> int:
    """Run function(*args) once and repeat each distributed call in one process.

    Returns the number of calls that this rank compared. RuntimeError at the first call whose result differs.
    """
    return _autophi.capture.check_ops(lambda: function(*args, **kwargs), _names(model))


def check_numbers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Run function(*args) once and check that all results are finite.

    FloatingPointError for the first operator, on any rank, that returns a non-finite number, with operator, rank,
    placements and module. Collective.
    """
    _autophi.capture.check_numbers(lambda: function(*args, **kwargs))
