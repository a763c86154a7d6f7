"""Whether operations are tracked for a backward pass: context managers, and decorators too."""

import contextlib
from typing import Literal

from autophi._autophi import set_grad_enabled


class _GradMode(contextlib.ContextDecorator):
    """Of the calling thread, which is one rank. One object may be entered several times."""

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
    """Nothing is tracked within:  with autophi.no_grad(): w -= 0.1 * w.grad"""


class enable_grad(_GradMode):
    """Operations are tracked within, in a no_grad() around it too."""

    _enabled = True
