"""Figures of plotly as dicts: lines by step and stacked bars by row."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Distinct on white and on black (Okabe and Ito, darkened or lightened to a middle brightness).
COLOURS = ("#4c8fd0", "#e08a2e", "#2aa886", "#c7679f", "#b59a1c", "#7d7fd6", "#d2604f", "#5fae4c", "#a07050", "#5bb5c9")
GREY = "#9a9a9a"
MOST_POINTS = 4000  # of a line


@dataclass
class Chart:
    """A figure: what Plotly.newPlot gets, without colours of the page."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass
class Table:
    """A table: cells are text; numbers are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1  # the leading columns that hold text

    def html(self) -> str:
        def line(tag: str, cells: Sequence[str]) -> str:
            sides = ("" if number < self.texts else ' class="number"' for number in range(len(cells)))
            return "<tr>" + "".join(f"<{tag}{side}>{html.escape(cell)}</{tag}>"
                                    for side, cell in zip(sides, cells, strict=True)) + "</tr>"
        body = "".join(line("td", row) for row in self.rows)
        return f'<div class="wide"><table><thead>{line("th", self.columns)}</thead><tbody>{body}</tbody></table></div>'


@dataclass
class Note:
    """A sentence about the source of this name."""

    name: str
    text: str = ""

    def html(self) -> str:
        name = f"<b>{html.escape(self.name)}</b> " if self.name else ""
        return f"<p>{name}{html.escape(self.text)}</p>"


Part = Chart | Table | Note


@dataclass
class Section:
    """A part of the page under a title. It is left out if it has no parts."""

    anchor: str
    title: str
    parts: Sequence[Part]
    needs: str  # the file that has it


def axis(title: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title}, "automargin": True, **more}


def lines(series: Sequence[tuple[str, Sequence[float], Sequence[float]]], y_title: str, hover: str,
          **y_axis: Any) -> Chart:
    """Return lines by step. `series`: name, steps, values; `hover`: the format of a value."""
    data = []
    for number, (name, steps, values) in enumerate(series):
        x, y = thinned(steps, values)
        data.append({"type": "scatter", "mode": "lines" if len(x) > 1 else "markers", "name": name, "x": x, "y": y,
                     "line": {"color": COLOURS[number % len(COLOURS)], "width": 1.8},
                     "hovertemplate": f"step %{{x}}: {hover}"})
    return Chart(data, {"xaxis": axis("step", tickformat=",d"), "yaxis": axis(y_title, **y_axis), "height": 340,
                        "showlegend": len(series) > 1, "hovermode": "x unified"})


def thinned(x: Sequence[float], y: Sequence[float], most: int = MOST_POINTS) -> tuple[list[float], list[float]]:
    """Return at most `most` points: of each stretch of a long line its lowest and its highest point."""
    if len(x) <= most:
        return list(x), list(y)
    kept: set[int] = {0, len(x) - 1}
    stretches = most // 2 - 1
    for part in range(stretches):
        stretch = range(part * len(x) // stretches, (part + 1) * len(x) // stretches)
        kept |= {min(stretch, key=y.__getitem__), max(stretch, key=y.__getitem__)}
    order = sorted(kept)
    return [x[i] for i in order], [y[i] for i in order]


def stacked_bars(labels: Sequence[str], parts: Mapping[str, Sequence[float]], x_title: str, unit: str,
                 colours: Mapping[str, str] | None = None) -> Chart:
    """Return horizontal bars, the first label at the top. `parts`: name and a length for each label."""
    data = []
    for number, (name, values) in enumerate(parts.items()):
        colour = (colours or {}).get(name) or COLOURS[number % len(COLOURS)]
        data.append({"type": "bar", "orientation": "h", "name": name, "y": list(range(len(labels))),
                     "x": rounded(values), "marker": {"color": colour},
                     "customdata": list(labels), "hovertemplate": f"%{{customdata}}: %{{x:.4~g}} {unit}"})
    return Chart(data, {"barmode": "stack", "bargap": 0.25, "xaxis": axis(x_title, rangemode="tozero"),
                        "yaxis": row_axis(labels), "height": row_height(len(labels)), "showlegend": True,
                        "hovermode": "closest"})


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    return {"automargin": True, "ticks": "outside", "ticklen": 6, "tickcolor": "rgba(0,0,0,0)", "showgrid": False,
            "zeroline": False, "tickvals": list(range(len(labels))), "ticktext": list(labels),
            "range": [len(labels) - 0.5, -0.5]}


def row_height(rows: int) -> int:
    return 130 + rows * (28 if rows <= 16 else 18)


def rounded(values: Sequence[float]) -> list[float]:
    """Return the values with six digits: a page needs no more."""
    return [float(f"{value:.6g}") for value in values]
