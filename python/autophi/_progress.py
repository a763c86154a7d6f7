"""Output of progress: the current sys.stdout, which a notebook or a test may have replaced."""

import sys

from autophi._autophi.training import Progress


def write(text: str) -> None:
    """Write text and flush."""
    sys.stdout.write(text)
    sys.stdout.flush()


def shows_bar() -> bool:
    """Return whether output redraws lines: on a terminal or in a notebook."""
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel.")
    return in_notebook or Progress.is_bar(sys.stdout.isatty())
