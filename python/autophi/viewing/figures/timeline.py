"""The timeline of a step by rank, of traces of `autophi run` and `autophi simulate`.

A rank has a lane of actions, if the trace has them, and one of operators and messages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from autophi.viewing.charts import COLOURS, GREY, Chart, Note, Part, Section, axis
from autophi.viewing.sources import Sources, Trace, Values
from autophi.viewing.units import count_text, scale_of_seconds, seconds_text

MOST_SPANS = 6000  # of a figure; shorter ones are joined
MOST_RANKS = 64

_CATEGORIES = {"forward": COLOURS[0], "backward": COLOURS[2], "weight gradients": COLOURS[9], "recompute": COLOURS[4],
               "optimizer": COLOURS[5], "other actions": GREY, "operators": COLOURS[0], "messages": COLOURS[1]}
_ACTIONS = {"F": "forward", "B": "backward", "W": "weight gradients"}


@dataclass
class _Span:
    category: str
    start: float  # seconds from the start of the step
    end: float
    names: Counter[str] = field(default_factory=Counter)


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
    rows = [(rank, lane, spans) for rank in ranks[:MOST_RANKS] for lane, spans in lanes[rank].items() if spans]
    if not rows:
        return [Note(trace.name, f"has no operators and no messages in step {step}.")]
    begin = min(span.start for _, _, spans in rows for span in spans)
    end = max(span.end for _, _, spans in rows for span in spans)
    resolution = (end - begin) * len(rows) / MOST_SPANS
    joined = [(rank, lane, _joined(spans, resolution)) for rank, lane, spans in rows]
    words = f"step {step}" + (f" of {steps[0]}-{steps[-1]}" if len(steps) > 1 else "") + f", {seconds_text(end - begin)}"
    words += ", simulated. " if trace.other.get("simulated") else ". "
    if len(ranks) > MOST_RANKS:
        words += f"The first {MOST_RANKS} of {count_text(len(ranks), 'rank')}. "
    words += "Hover for names, drag to zoom; the trace has every event (ui.perfetto.dev)."
    return [Note(trace.name, words), _chart(joined, _names(trace.events), begin, end)]


def _step_to_show(events: Sequence[Values]) -> tuple[int | None, list[int]]:
    """Return the second step, since the first differs; of a trace of one step, that one."""
    steps = sorted({event["args"]["step"] for event in events if event.get("cat") == "step" and "step" in event["args"]})
    return (None if not steps else steps[min(1, len(steps) - 1)]), steps


def _lanes(events: Sequence[Values], step: int) -> tuple[list[int], dict[int, dict[str, list[_Span]]]]:
    lanes: dict[int, dict[str, list[_Span]]] = {}
    for event in events:
        placed = _category(event)
        if placed is None or event["args"].get("step") != step or "dur" not in event:
            continue
        lane, category = placed
        rank = lanes.setdefault(event["pid"], {"actions": [], "work": []})
        start = event["ts"] * 1e-6
        rank[lane].append(_Span(category, start, start + event["dur"] * 1e-6, Counter({event["name"]: 1})))
    return sorted(lanes), lanes


def _category(event: Values) -> tuple[str, str] | None:
    """Return the lane and the category of an event; None for events that are not shown."""
    kind, name = event.get("cat"), event.get("name", "")
    if kind == "action":
        letter = re.fullmatch(r"([FBW])\d+", name)
        known = _ACTIONS[letter[1]] if letter else name
        return "actions", known if known in _CATEGORIES else "other actions"
    return {"op": ("work", "operators"), "call": ("work", "messages")}.get(str(kind))


def _joined(spans: list[_Span], resolution: float) -> list[_Span]:
    """Join spans of a category that are shorter, and nearer to each other, than `resolution`.

    A span within another one of its lane, such as the message of an operator, is drawn over it.
    """
    out: dict[str, list[_Span]] = {}
    for span in sorted(spans, key=lambda each: each.start):
        own = out.setdefault(span.category, [])
        last = own[-1] if own else None
        is_short = last is not None and min(span.end - span.start, last.end - last.start) < resolution
        if last is not None and is_short and span.start - last.end < resolution:
            last.end = max(last.end, span.end)
            last.names += span.names
        else:
            own.append(span)
    return [span for each in out.values() for span in each]


def _names(events: Sequence[Values]) -> dict[int, str]:
    """Return labels by rank; a simulated rank stands for all alike."""
    names = {}
    for event in events:
        if event.get("ph") != "M" or event.get("name") != "process_name":
            continue
        alike = re.search(r"one of (\d+) alike", event["args"]["name"])
        count = int(alike[1]) if alike else 1
        names[event["pid"]] = f"rank {event['pid']}" + (f" (of {count_text(count, 'equal rank')})" if count > 1 else "")
    return names


def _chart(rows: list[tuple[int, str, list[_Span]]], names: dict[int, str], begin: float, end: float) -> Chart:
    divisor, unit = scale_of_seconds([end - begin])
    bars: dict[str, dict[str, list[object]]] = {}
    for row, (_, _, spans) in enumerate(rows):
        for span in spans:
            bar = bars.setdefault(span.category, {"base": [], "x": [], "y": [], "hovertext": []})
            bar["base"].append(float(f"{(span.start - begin) / divisor:.6g}"))
            bar["x"].append(float(f"{(span.end - span.start) / divisor:.6g}"))
            bar["y"].append(row)
            bar["hovertext"].append(f"{_words(span.names)}, {seconds_text(span.end - span.start)}")
    data = [{"type": "bar", "orientation": "h", "name": category, "width": 0.84,
             "marker": {"color": _CATEGORIES[category], "line": {"width": 0}}, "hovertemplate": "%{hovertext}", **bars[category]}
            for category in _CATEGORIES if category in bars]
    firsts = [row for row, (rank, _, _) in enumerate(rows) if row == 0 or rows[row - 1][0] != rank]
    ticks = [row + (0.5 if row + 1 < len(rows) and rows[row + 1][0] == rows[row][0] else 0) for row in firsts]
    return Chart(data, {
        "barmode": "overlay", "xaxis": axis(f"time in the step, {unit}", zeroline=False),
        "yaxis": {"automargin": True, "tickvals": ticks, "ticktext": [names.get(rows[row][0], f"rank {rows[row][0]}") for row in firsts],
                  "showgrid": False, "zeroline": False, "range": [len(rows) - 0.4, -0.6], "fixedrange": True},
        "height": 130 + len(rows) * (22 if len(rows) <= 32 else 12), "hovermode": "closest"})


def _words(names: Counter[str]) -> str:
    (most, times), *others = names.most_common(3)
    if not others:
        return most if times == 1 else f"{most} x{times}"
    return f"{names.total()} x {', '.join([most, *(name for name, _ in others)])}{', ..' if len(names) > 3 else ''}"
