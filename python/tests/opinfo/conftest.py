"""Counts of samples, shown at the end of a run."""

import collections
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
_counts = {}


@pytest.fixture
def record_counts():
    return _counts.__setitem__


def pytest_terminal_summary(terminalreporter):
    total = sum(_counts.values(), collections.Counter())
    if total:
        terminalreporter.write_line(f"{len(_counts)} operators of PyTorch, {total['samples']} samples: " + ", ".join(
            f"{count} {kind}" for kind, count in sorted(total.items()) if kind != "samples"))
