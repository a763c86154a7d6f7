"""One HTML page of what jobs and predictions write: reports, metrics, traces, predictions and plans.

    ap.view("r.json", "p.json", out="page.html")
    ap.view(report, prediction)                    # in a notebook

The page needs no network. docs/view.md lists what it shows of which file. Drawn by plotly: pip install 'autophi[view]'.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autophi.plan import Prediction
    from autophi.viewing.page import Page


def view(*sources: "str | os.PathLike[str] | Mapping[str, Any] | Prediction",
         out: str | os.PathLike[str] | None = None) -> "Page":
    """Return a page about `sources`, which a notebook displays. `out`: also write it to this file.

    A source is the path of a file, or the value itself: a report that `jobs.run` returned, a Prediction, a dict of
    plans. Runs are laid over each other.

    ValueError, with the path, for a file of no known kind; ModuleNotFoundError, with the command that installs it, if
    plotly is missing.
    """
    from autophi.viewing.page import Page  # reads and draws: loaded by those who look

    page = Page.of(sources)
    if out is not None:
        page.write(out)
    return page


__all__ = ["view"]
