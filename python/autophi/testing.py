"""Helpers for custom tests, with pytest or without: operators on all placements, and data that programs move.

    from autophi import testing
    def test_my_op():
        testing.check_op(my_op, autophi.gaussian([6, 8]), autophi.gaussian([8]))
    def test_that_the_layout_moves_nothing():
        testing.assert_moves(lambda: model(x), bytes_at_most=0)
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from autophi._autophi import Tensor
from autophi._autophi import testing as _testing
from autophi.explaining import Explanation, expect_moves, explain


@dataclasses.dataclass(frozen=True)
class OpReport:
    """Counts and failures of check_op."""
    calls: int  # distributed calls, of one mesh and one choice of placements each
    gradient_calls: int  # the same of gradients
    differences: int  # elements of gradients that were compared with finite differences
    failures: tuple[str, ...]  # the first of each kind, in words
    words: str  # all of it in a line: what str() gives

    def __str__(self) -> str:
        return self.words


def try_op(call: Callable[..., Any], *inputs: Tensor, name: str | None = None, tolerance: float = 1e-5,
           partial: bool = True, gradients: bool = True, smooth: bool = True, placements: int = 400,
           seed: int = 20261121) -> OpReport:
    """Run the checks of check_op, but return failures instead of raising."""
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise TypeError(f"input {i} must be Tensor, got {type(x).__name__}: pass numbers and flags "
                            "inside the function, as in check_op(lambda x: op(x, axis=1), x)")
    name = name or str(getattr(call, "__name__", type(call).__name__))
    told = _testing.try_op(name, call, list(inputs), tolerance, partial, gradients, smooth, placements, seed)
    return OpReport(told["calls"], told["gradient_calls"], told["differences"], tuple(told["failures"]), told["words"])


def check_op(call: Callable[..., Any], *inputs: Tensor, **options: Any) -> OpReport:
    """Compare an operator's results and gradients on every placement with those of one process.

    `call(*inputs)` returns a Tensor or a list of them. Ranks are threads: two of four, three (uneven shards), and, with
    sampled placements, 2 x 2 of five ranks with one outside. Partial inputs are split at random, so that no rank stores
    the value. Gradients of plain calls are also compared with finite differences.

    tolerance   of distributed results, relative to the largest magnitude of the output (1e-5)
    partial     inputs may also be partial sums; False if the call splits them in its own way
    gradients   False if there are none
    smooth      False for a call that is not smooth near its inputs, or whose kernel has no float64
    placements  maximum number tried on each mesh; `seed` samples them if there are more

    Returns an OpReport. Errors: AssertionError with all failures; errors of the call.
    """
    report = try_op(call, *inputs, **options)
    if report.failures:
        raise AssertionError("\n".join(report.failures))
    return report


assert_moves = expect_moves

__all__ = ["Explanation", "OpReport", "assert_moves", "check_op", "expect_moves", "explain", "try_op"]
