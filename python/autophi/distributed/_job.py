"""This process as a rank of a job that mpirun started."""

import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from autophi._autophi import distributed as _distributed

_joined = False
_hook_before: Callable[[type[BaseException], BaseException, TracebackType | None], object] = sys.__excepthook__


def init(start_deadline: float = 0.0) -> None:
    """Join the job; without mpirun the job is this one process. Call it once, before the first distributed tensor.

    The process leaves the job when it ends. If it ends with a status other than 0, such as sys.exit(3), while other
    ranks run, it ends the job with that status. An uncaught exception ends the job on all ranks, after its traceback,
    or after the earlier sys.excepthook; hooks set later are called instead.
    `start_deadline`: seconds to wait for the other ranks; 0: AUTOPHI_START_DEADLINE_S, else 60.
    """
    global _joined, _hook_before
    _distributed.init(start_deadline)
    _joined = True
    if _distributed.world_size() > 1:
        _hook_before, sys.excepthook = sys.excepthook, _end_job


def finalize() -> None:
    """Leave the job. Called automatically when the process ends."""
    global _joined
    _joined = False
    _distributed.finalize()


def is_initialized() -> bool:
    """Return whether init() was called without a later finalize(). False in a forked child, which is not a rank."""
    return _joined and not _distributed.was_forked()


def _end_job(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if _hook_before is sys.__excepthook__:
        # One text, so that those of several ranks do not mix.
        sys.stderr.write("".join(traceback.format_exception(kind, error, trace)))
    else:
        _hook_before(kind, error, trace)
    sys.stderr.flush()
    if _joined:
        _distributed.abort_job(f"{kind.__name__}: {error}")
