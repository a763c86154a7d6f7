"""Asking what calls move, and why, and checking them as they run (docs/explain.md)."""

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
    """Runs function(*args) once and tells what its calls did on this rank: placements, reshards, bytes, and the
    reasons. str() of the Explanation is a table. Every rank calls it. `model`: its parameters then have their
    names; `names`: other tensors by name."""
    return _autophi.capture.explain(lambda: function(*args, **kwargs), _names(model, names))


def expect_moves(function: Callable[..., Any], *args: Any, bytes_at_most: int | None = None,
                 reshards_at_most: int | None = None, model: Module | None = None,
                 names: Mapping[str, Tensor] | None = None, **kwargs: Any) -> None:
    """Runs function(*args) once, for tests of layouts: AssertionError, the same on all ranks, where any one rank
    moves more, with the worst moves and their reasons. Every rank calls it.

    Bytes are those sent or received in reshards and within kernels, the larger of both ways; reshards are those
    that only cut or copy on a rank itself too."""
    _autophi.capture.expect_moves(lambda: function(*args, **kwargs), bytes_at_most=bytes_at_most,
                                  reshards_at_most=reshards_at_most, names=_names(model, names))


def check_ops(function: Callable[..., Any], *args: Any, model: Module | None = None, **kwargs: Any) -> int:
    """Runs function(*args) once and repeats each distributed call in one process; RuntimeError at the first that
    gives something else. Gives how many calls this rank has compared."""
    return _autophi.capture.check_ops(lambda: function(*args, **kwargs), _names(model))


def check_numbers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Runs function(*args) once; FloatingPointError where an operator gave a number that is not finite, on whatever rank
    first, with operator, rank, placements and module. Collective."""
    _autophi.capture.check_numbers(lambda: function(*args, **kwargs))
