"""Context managers and decorators that set whether operations are tracked for a backward pass."""

import contextlib
from typing import Literal

from autophi._autophi import set_grad_enabled


class _GradMode(contextlib.ContextDecorator):
    """Gradient mode of the calling thread, which is one rank. One object can be entered several times."""

    _enabled = False

    def __init__(self) -> None:
        self._before: list[bool] = []

    def _recreate_cm(self) -> "_GradMode":
        # A decorated function may run on several threads at once.
        return type(self)()

    def __enter__(self) -> "_GradMode":
        self._before.append(set_grad_enabled(self._enabled))
        return self

    def __exit__(self, *error: object) -> Literal[False]:
        set_grad_enabled(self._before.pop())
        return False


class no_grad(_GradMode):
    """Disable tracking of operations:  with autophi.no_grad(): w -= 0.1 * w.grad"""


class enable_grad(_GradMode):
    """Enable tracking of operations, also inside no_grad()."""

    _enabled = True
