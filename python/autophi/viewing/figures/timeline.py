"""The timeline of a step by rank, of traces of `autophi run` and `autophi simulate`.

A rank has a lane of actions, if the trace has them, and one of operators and messages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autophi.viewing.charts import COLOURS, GREY, Chart, Note, Part, Section, axis
from autophi.viewing.sources import Sources, Trace, Values
from autophi.viewing.units import count_text, scale_of_seconds, seconds_text

MOST_STRETCHES = 4000  # of a figure, into which short spans are summed up
MOST_OF_A_LANE = 500
MOST_RANKS = 64

_CATEGORIES = {"forward": COLOURS[9], "backward": COLOURS[2], "weight gradients": COLOURS[7], "recompute": COLOURS[4],
               "optimizer": COLOURS[5], "other actions": GREY, "operators": COLOURS[0],
               "messages and waits": COLOURS[1]}
_FILLED = 0.84  # of a lane's height
_ACTIONS = {"F": "forward", "B": "backward", "W": "weight gradients"}


@dataclass
class _Span:
    category: str
    name: str
    start: float  # in seconds
    end: float


@dataclass
class _Rectangle:
    """A part of a lane: from `start` to `end`, and from `low` to `top` of its height."""

    category: str
    start: float
    end: float
    low: float
    top: float
    words: str


def section(sources: Sources) -> Section:
    parts: list[Part] = []
    for trace in sources.traces:
        parts += _parts(trace)
    return Section("timeline", "A step's timeline by rank", parts, "a trace (--trace of autophi run or simulate)")


def _parts(trace: Trace) -> list[Part]:
    step, steps = _step_to_show(trace.events)
    if step is None:
        return [Note(trace.name, "has no steps.")]
    ranks, lanes = _lanes(trace.events, step)
    rows = [(rank, spans) for rank in ranks[:MOST_RANKS] for spans in lanes[rank].values() if spans]
    if not rows:
        return [Note(trace.name, f"has no operators and no messages in step {step}.")]
    begin = min(span.start for _, spans in rows for span in spans)
    end = max(span.end for _, spans in rows for span in spans)
    resolution = (end - begin) / min(MOST_OF_A_LANE, MOST_STRETCHES // len(rows))
    drawn = [(rank, _rectangles(spans, begin, resolution)) for rank, spans in rows]
    words = f"step {step}" + (f" of {steps[0]}-{steps[-1]}" if len(steps) > 1 else "")
    words += f", {seconds_text(end - begin)}"
    words += ", simulated. " if trace.other.get("simulated") else ". "
    if len(ranks) > MOST_RANKS:
        words += f"The first {MOST_RANKS} of {count_text(len(ranks), 'rank')}. "
    words += (f"Spans shorter than {seconds_text(2 * resolution)} are summed up: the height is their share of the time."
              " The trace has each of them (ui.perfetto.dev).")
    return [Note(trace.name, words), _chart(drawn, _names(trace.events), begin, end)]


def _step_to_show(events: Sequence[Values]) -> tuple[int | None, list[int]]:
    """Return the first traced step after step 1, which differs; else step 1."""
    steps = sorted({event["args"]["step"] for event in events
                    if event.get("cat") == "step" and "step" in event["args"]})
    return next((step for step in steps if step > 1), steps[0] if steps else None), steps


def _lanes(events: Sequence[Values], step: int) -> tuple[list[int], dict[int, dict[str, list[_Span]]]]:
    lanes: dict[int, dict[str, list[_Span]]] = {}
    for event in events:
        placed = _category(event)
        if placed is None or event["args"].get("step") != step or "dur" not in event:
            continue
        lane, category = placed
        rank = lanes.setdefault(event["pid"], {"actions": [], "work": []})
        start = event["ts"] * 1e-6
        rank[lane].append(_Span(category, event["name"], start, start + event["dur"] * 1e-6))
    return sorted(lanes), lanes


def _category(event: Values) -> tuple[str, str] | None:
    """Return the lane and the category of an event; None for events that are not shown."""
    kind, name = event.get("cat"), event.get("name", "")
    if kind == "action":
        letter = re.fullmatch(r"([FBW])\d+", name)
        known = _ACTIONS[letter[1]] if letter else name
        return "actions", known if known in _CATEGORIES else "other actions"
    return {"op": ("work", "operators"), "comm": ("work", "messages and waits")}.get(str(kind))


def _rectangles(spans: list[_Span], begin: float, resolution: float) -> list[_Rectangle]:
    """Return long spans as they are. Of short ones, the height says which part of each stretch of time they take."""
    out = []
    short: dict[int, list[_Span]] = {}  # by stretch, cut at its ends
    for span in spans:
        if span.end - span.start >= 2 * resolution:
            words = f"{span.name}, {seconds_text(span.end - span.start)}"
            out.append(_Rectangle(span.category, span.start, span.end, 0.0, 1.0, words))
            continue
        for stretch in range(int((span.start - begin) / resolution), int((span.end - begin) / resolution) + 1):
            first = begin + stretch * resolution
            short.setdefault(stretch, []).append(_Span(span.category, span.name, max(span.start, first),
                                                       min(span.end, first + resolution)))
    for stretch, parts in short.items():
        out += _shares(parts, begin + stretch * resolution, resolution)
    return out


def _shares(parts: list[_Span], start: float, length: float) -> list[_Rectangle]:
    """Stack the shares of one stretch. Time within two spans, as of an operator's message, is the last category's."""
    out: list[_Rectangle] = []
    counted: list[_Span] = []
    low = 0.0
    for category in reversed(_CATEGORIES):
        own = [part for part in parts if part.category == category]
        counted += own
        top = _covered(counted) / length
        if top - low > 1e-3:
            words = f"{_words(Counter(part.name for part in own))}: {top - low:.0%} of {seconds_text(length)}"
            out.append(_Rectangle(category, start, start + length, low, top, words))
            low = top
    return out


def _covered(parts: list[_Span]) -> float:
    """Return the length of the union."""
    total, reached = 0.0, float("-inf")
    for part in sorted(parts, key=lambda each: each.start):
        total += max(0.0, part.end - max(part.start, reached))
        reached = max(reached, part.end)
    return total


def _names(events: Sequence[Values]) -> dict[int, str]:
    """Return labels by rank. A simulated rank may stand for all that are equal to it."""
    alike: dict[int, int] = {}
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "process_name":
            count = re.search(r"one of (\d+) alike", event["args"]["name"])
            alike[event["pid"]] = int(count[1]) if count else 1
    shown = Counter(alike.values())
    are_whole = all(ranks % count == 0 for count, ranks in shown.items())
    all_are_there = are_whole and sorted(alike) == list(range(len(alike)))
    return {rank: f"rank {rank}" + ("" if count == 1 or all_are_there else f" (of {count_text(count, 'equal rank')})")
            for rank, count in alike.items()}


def _chart(rows: list[tuple[int, list[_Rectangle]]], names: dict[int, str], begin: float, end: float) -> Chart:
    divisor, unit = scale_of_seconds([end - begin])
    bars: dict[str, dict[str, list[object]]] = {}
    for row, (_, rectangles) in enumerate(rows):
        for each in rectangles:
            bar = bars.setdefault(each.category, {"base": [], "x": [], "y": [], "width": [], "hovertext": []})
            bar["base"].append(float(f"{(each.start - begin) / divisor:.6g}"))
            bar["x"].append(float(f"{(each.end - each.start) / divisor:.6g}"))
            bar["y"].append(round(row + _FILLED * (0.5 - (each.low + each.top) / 2), 4))
            bar["width"].append(round(_FILLED * (each.top - each.low), 4))
            bar["hovertext"].append(each.words)
    data = [{"type": "bar", "orientation": "h", "name": category, "hovertemplate": "%{hovertext}",
             "marker": {"color": colour, "line": {"width": 0}}, **bars[category]}
            for category, colour in _CATEGORIES.items() if category in bars]
    firsts = [row for row, (rank, _) in enumerate(rows) if row == 0 or rows[row - 1][0] != rank]
    ticks = [row + (0.5 if row + 1 < len(rows) and rows[row + 1][0] == rows[row][0] else 0) for row in firsts]
    return Chart(data, {
        "barmode": "overlay", "xaxis": axis(f"time in the step, {unit}", zeroline=False),
        "yaxis": {"automargin": True, "tickvals": ticks,
                  "ticktext": [names.get(rows[row][0], f"rank {rows[row][0]}") for row in firsts],
                  "showgrid": False, "zeroline": False, "range": [len(rows) - 0.4, -0.6], "fixedrange": True},
        "height": 130 + len(rows) * (22 if len(rows) <= 32 else 12), "hovermode": "closest"})


def _words(names: Counter[str]) -> str:
    (most, times), *others = names.most_common(3)
    if not others:
        return most if times == 1 else f"{most} x{times}"
    return f"{names.total()} x {', '.join([most, *(name for name, _ in others)])}{', ..' if len(names) > 3 else ''}"
