"""Where progress is shown: sys.stdout of the moment, which a notebook or a test may have put in another's place."""

import sys

from autophi._autophi.training import Progress


def write(text: str) -> None:
    """Shows it at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def shows_bar() -> bool:
    """Whether somebody sees a line that is drawn over itself: on a terminal, or in a notebook."""
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel.")
    return in_notebook or Progress.is_bar(sys.stdout.isatty())
