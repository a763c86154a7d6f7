"""Pieces of HTML for notebooks: tables, and pictures in SVG. No scripts, style sheets or files."""

from collections.abc import Iterable

# The module html of Python brings a table of all entities, which takes longer than the rest of the package.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_COLOURS = ("#9ecbf0", "#a8dcb5", "#f6d99a", "#e9b3b0", "#cbb7ea", "#f3c38f", "#a9dfe0", "#d9d9d9")
_CELL = 'style="padding:2px 8px;text-align:left;border:1px solid #ddd"'


def text(value: object) -> str:
    return str(value).translate(_ESCAPES)


def table(head: object, columns: Iterable[object], rows: Iterable[Iterable[object]], notes: Iterable[object] = ()) -> str:
    """Return a table with a header line above and notes below."""
    cells = "".join(f"<th {_CELL}>{text(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td {_CELL}>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    below = "".join(f"<div>{text(note)}</div>" for note in notes)
    return (f'<div><div style="font-weight:bold">{text(head)}</div><table style="border-collapse:collapse">'
            f"<tr>{cells}</tr>{body}</table>{below}</div>")


def colour(number: int) -> str:
    """Return the colour of a number. Consecutive numbers have different colours."""
    return _COLOURS[number % len(_COLOURS)]


def svg(width: float, height: float, parts: Iterable[str]) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="12" '
            f'fill="#222">{"".join(parts)}</svg>')


def rectangle(x: float, y: float, width: float, height: float, fill: str, title: object) -> str:
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
            f'stroke="#555" stroke-width="0.8"><title>{text(title)}</title></rect>')


def words(x: float, y: float, value: object, anchor: str = "middle") -> str:
    # What is below has the tooltip.
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" pointer-events="none">{text(value)}</text>'
