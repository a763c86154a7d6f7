"""Parts of a run (--part=N/M), and counts of samples, shown at its end."""

import collections
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
_counts = {}


def pytest_addoption(parser):
    parser.addoption("--part", default="1/1", help="N/M: each M-th operator from the N-th on")


def pytest_collection_modifyitems(config, items):
    n, parts = map(int, config.getoption("--part").split("/"))
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % parts != n - 1])
    items[:] = [item for i, item in enumerate(items) if i % parts == n - 1]


@pytest.fixture
def record_counts():
    return _counts.__setitem__


def pytest_terminal_summary(terminalreporter):
    total = sum(_counts.values(), collections.Counter())
    if total:
        terminalreporter.write_line(f"{len(_counts)} operators of PyTorch, {total['samples']} samples: " + ", ".join(
            f"{count} {kind}" for kind, count in sorted(total.items()) if kind != "samples"))
