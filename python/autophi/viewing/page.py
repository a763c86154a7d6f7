"""Page: sections of figures as one HTML text that needs no network."""

import html
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable

from autophi.viewing import template
from autophi.viewing.charts import Chart, Section
from autophi.viewing.figures import (comparison, memory, messages, placements, plans, rank_times, steps, summary,
                                     timeline)
from autophi.viewing.sources import Sources, read

# In the order of the page.
SECTIONS: tuple[Callable[[Sources], Section], ...] = (
    summary.section, steps.loss, steps.throughput, steps.learning_rate, comparison.section, timeline.section,
    rank_times.section, memory.section, messages.by_collective, messages.by_link, messages.by_rank, placements.section,
    plans.section)


class Page:
    """A page. Notebooks display it; `write(path)` writes it."""

    def __init__(self, sections: Iterable[Section], script: str) -> None:
        sections = list(sections)
        self.sections = [section for section in sections if section.parts]
        self.absent = [section for section in sections if not section.parts]
        self._script = script

    @staticmethod
    def of(given: Iterable[object]) -> "Page":
        script = _plotly_script()
        sources = read(given)
        return Page([section(sources) for section in SECTIONS], script)

    def html(self) -> str:
        """Return the text of the page."""
        charts: list[Chart] = []
        body = "".join(_section_html(section, charts) for section in self.sections)
        contents = "".join(f'<li><a href="#{section.anchor}">{html.escape(section.title)}</a></li>'
                           for section in self.sections)
        absent = "".join(f"<li>{html.escape(section.title)}: needs {html.escape(section.needs)}</li>"
                         for section in self.absent)
        figures = json.dumps([{"data": chart.data, "layout": chart.layout} for chart in charts], separators=(",", ":"))
        figures = figures.replace("</", "<\\/")  # nothing in it ends the script element
        return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Autophi</title>'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">'
                f"<style>{template.STYLE}</style></head>\n"
                f"<body><main><h1>Autophi</h1><nav><ol>{contents}</ol></nav>\n{body}"
                + (f'<section id="absent"><h2>Not on this page</h2><ul>{absent}</ul></section>' if absent else "")
                + f'</main>\n<script type="application/json" id="figures">{figures}</script>\n'
                  f"<script>{self._script}</script>\n<script>{template.SCRIPT}</script></body></html>\n")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page: all of it, or nothing. Errors: OSError with the path."""
        path = os.fspath(path)
        text = self.html()
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                with open(path, "w", encoding="utf-8") as stream:  # a pipe or a device cannot be replaced
                    stream.write(text)
            else:
                _replace(path, text)
        except OSError as error:
            raise type(error)(f"cannot write '{path}': {error.strerror}.") from None

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html())}" style="width:100%;height:42rem;border:0" '
                f'title="Autophi"></iframe>')

    def __repr__(self) -> str:
        return f"<page: {', '.join(section.title for section in self.sections)}; page.write('page.html') writes it>"


def _replace(path: str, text: str) -> None:
    """Write a file of that name: all of it, or nothing."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=os.path.dirname(path) or ".", delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _section_html(section: Section, charts: list[Chart]) -> str:
    parts = []
    for part in section.parts:
        if isinstance(part, Chart):
            parts.append(f'<div id="figure{len(charts)}" style="height:{part.layout["height"]}px"></div>')
            charts.append(part)
        else:
            parts.append(part.html())
    return f'<section id="{section.anchor}"><h2>{html.escape(section.title)}</h2>{"".join(parts)}</section>\n'


def _plotly_script() -> str:
    try:
        plotly = importlib.import_module("plotly.offline")
    except ImportError as error:
        raise ModuleNotFoundError("a page is drawn by plotly, which is not installed here. Install it: pip install "
                                  "'autophi[view]', or pip install plotly.") from error
    return str(plotly.get_plotlyjs())
