"""This process as a rank of a job that mpirun has started."""

import atexit
import sys
import traceback

from autophi._autophi import distributed as _distributed

_joined = False


def init(start_deadline=0.0):
    """Joins the job; without mpirun the job is this one process. Once, before the first distributed tensor.

    The process leaves the job when it ends. An exception that nobody catches ends the job on all ranks,
    after its traceback: else the others would wait for this one. `start_deadline`: seconds to wait for the
    other ranks; 0: those of AUTOPHI_START_DEADLINE_S, else 60.
    """
    global _joined
    _distributed.init(start_deadline)
    _joined = True
    atexit.register(finalize)
    if _distributed.world_size() > 1:
        sys.excepthook = _end_job


def finalize():
    """Leaves the job. Called by itself when the process ends."""
    global _joined
    _joined = False
    _distributed.finalize()


def is_initialized():
    """Whether init() was called, and not finalize() since. False in a child that was forked, which is no rank."""
    return _joined and not _distributed.was_forked()


def _end_job(kind, error, trace):
    # One text, so that those of several ranks do not mix.
    sys.stderr.write("".join(traceback.format_exception(kind, error, trace)))
    sys.stderr.flush()
    if _joined:
        _distributed.abort_job(f"{kind.__name__}: {error}")
