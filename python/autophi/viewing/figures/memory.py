"""Memory at the peak by what holds it, by rank or class."""

import re
from collections import Counter
from collections.abc import Sequence

from autophi.viewing.charts import COLOURS, GREY, Chart, Note, Part, Section, stacked_bars
from autophi.viewing.ranks import RankRow, rank_rows
from autophi.viewing.sources import Sources, Values, name_of
from autophi.viewing.units import bytes_text, scale_of_bytes

MOST_HOLDERS = 9
OTHER = "other"
LEAST_FILLED = 0.2  # of a device, at which its limit is drawn
_COLOURS = {"weights": COLOURS[0], "gradients": COLOURS[2], "optimizer states": COLOURS[5], "activations": COLOURS[1],
            "messages": COLOURS[6], "workspace": COLOURS[8], "data": COLOURS[9], "arena": COLOURS[4], OTHER: GREY}


def section(sources: Sources) -> Section:
    parts: list[Part] = []
    for name, entries, limit in _holders(sources):
        rows, note = rank_rows(entries, ("peak_tensor_bytes", "held_at_peak"))
        parts.append(Note(name, note + (f" A device has {bytes_text(limit)} for tensors." if limit else "")))
        parts.append(_chart(rows, limit))
    return Section("memory", "Memory at the peak, by what holds it", parts,
                   "a prediction, or a report of a dry run or with --device_limit or --machine")


def _holders(sources: Sources) -> list[tuple[str, list[Values], float | None]]:
    found = []
    for run in sources.runs:
        found.append((run.name, [e for e in run.report.get("ranks") or [] if e.get("held_at_peak")], None))
    for predicted in sources.predictions:
        found.append((name_of(predicted), [e for e in predicted.values.get("ranks") or [] if e.get("held_at_peak")],
                      predicted.values.get("device_bytes")))
    return [each for each in found if each[1]]


def kind_of(holder: str) -> str:
    """Return what a holder is called in the legend: activations are listed by layer, and are one kind."""
    return "activations" if re.match(r"activations\b", holder) else holder


def _chart(rows: Sequence[RankRow], limit: float | None) -> Chart:
    held = [Counter[str]() for _ in rows]
    for own, row in zip(held, rows, strict=True):
        for holder, size in row.values["held_at_peak"].items():
            own[kind_of(holder)] += size
    total = Counter[str]()
    for own in held:
        total.update(own)
    kinds = [kind for kind, _ in total.most_common(MOST_HOLDERS)]
    parts = {kind: [own[kind] for own in held] for kind in kinds}
    if len(total) > MOST_HOLDERS:
        parts[OTHER] = [own.total() - sum(own[kind] for kind in kinds) for own in held]
    most = max(own.total() for own in held)
    if limit and most < LEAST_FILLED * limit:
        limit = None
    divisor, unit = scale_of_bytes([most])
    chart = stacked_bars([row.label for row in rows],
                         {kind: [size / divisor for size in sizes] for kind, sizes in parts.items()},
                         f"bytes of tensors at the peak, {unit}", unit, _COLOURS)
    if limit:
        x = limit / divisor
        chart.layout["shapes"] = [{"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1,
                                   "line": {"width": 1.5, "dash": "dot", "color": "#d2604f"}}]
        chart.layout["xaxis"]["range"] = [0, 1.04 * max(limit, most) / divisor]
    return chart
