"""Signals that request the end, as exceptions that never interrupt the restoration of a file."""

import signal
from contextlib import contextmanager
from typing import Iterator

from mutation.errors import Stopped

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    deferred = 0
    pending = 0


def _on_signal(number: int, _frame) -> None:
    if _State.deferred:
        _State.pending = number
    else:
        raise Stopped(number)


def catch() -> None:
    for number in _ENDING:
        signal.signal(number, _on_signal)


@contextmanager
def deferred() -> Iterator[None]:
    """A signal that arrives within is raised at the end."""
    _State.deferred += 1
    try:
        yield
    finally:
        _State.deferred -= 1
        if not _State.deferred and _State.pending:
            number, _State.pending = _State.pending, 0
            raise Stopped(number)
