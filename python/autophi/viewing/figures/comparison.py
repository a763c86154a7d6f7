"""Predicted beside measured: runs and the predictions of as many ranks."""

import statistics
from collections.abc import Callable

from autophi.viewing.charts import COLOURS, GREY, Note, Part, Section, Table, stacked_bars
from autophi.viewing.sources import Predicted, Run, Sources, Values
from autophi.viewing.units import bytes_text, percent_text, scale_of_seconds, seconds_text

_Read = Callable[[Values], float | None]


def section(sources: Sources) -> Section:
    pairs = _pairs(sources)
    if not pairs:
        return Section("comparison", "Predicted beside measured", [],
                       "a report of a run and a prediction of as many ranks, or autophi run --machine")
    rows: list[list[str]] = []
    for run, predicted in pairs:
        rows += _rows(run, predicted)
    return Section("comparison", "Predicted beside measured", [
        Note("", "A run is compared with the prediction in its report, else with predictions of as many ranks. The "
             "measured time is the median of the steps after the first."), _chart(pairs),
        Table(["run", "prediction", "", "predicted", "measured", "predicted / measured"], rows, texts=3)], "")


def measured_seconds(run: Run) -> float | None:
    """Return the median time of steps after the first; of a run of one step, its time."""
    seconds = [line["seconds"] for line in run.metrics if "seconds" in line]
    seconds = seconds or list(run.report.get("step_seconds") or [])
    return statistics.median(seconds[1:] or seconds) if seconds else None


def number_of_ranks(values: Values) -> int:
    return sum(entry.get("count", 1) for entry in values.get("ranks") or [])


def _pairs(sources: Sources) -> list[tuple[Run, Predicted]]:
    pairs = []
    for run in sources.runs:
        if measured_seconds(run) is None or run.report.get("mode") == "generate":
            continue
        own = [each for each in sources.predictions if each.of is run]
        apart = [each for each in sources.predictions
                 if each.of is None and number_of_ranks(each.values) == run.report.get("world_size")]
        pairs += [(run, each) for each in own or apart]
    return pairs


def _chart(pairs: list[tuple[Run, Predicted]]) -> Part:
    measured = [measured_seconds(run) or 0.0 for run, _ in pairs]
    predicted = [each.values["step_seconds"] for _, each in pairs]
    divisor, unit = scale_of_seconds(measured + predicted)
    labels = [run.name if each.of else f"{run.name}, {each.name}" for run, each in pairs]
    chart = stacked_bars(labels, {"predicted": [value / divisor for value in predicted],
                                  "measured": [value / divisor for value in measured]},
                         f"time of a step, {unit}", unit, {"predicted": GREY, "measured": COLOURS[0]})
    chart.layout["barmode"] = "group"
    chart.layout["height"] = 130 + 44 * len(pairs)
    return chart


def _rows(run: Run, predicted: Predicted) -> list[list[str]]:
    known = run.report.get("tokens_per_s")
    compared = [("time of a step", seconds_text, predicted.values["step_seconds"], measured_seconds(run)),
                ("tokens per second", lambda value: f"{value:,.0f}", predicted.values.get("tokens_per_s"), known),
                *((what, bytes_text, _of_ranks(predicted.values, key), _of_ranks(run.report, key))
                  for what, key in (("highest peak of tensors", "peak_tensor_bytes"),
                                    ("bytes that ranks send", "bytes_sent")))]
    rows = []
    for what, text, ours, theirs in compared:
        if ours and theirs:
            rows.append([run.name, predicted.name if predicted.of is None else "in its report", what, text(ours),
                         text(theirs), percent_text(ours / theirs)])
    return rows


def _of_ranks(values: Values, key: str) -> float | None:
    """Return the sum over ranks; of peaks, the largest."""
    entries = [entry for entry in values.get("ranks") or [] if key in entry]
    if not entries:
        return None
    if key == "peak_tensor_bytes":
        return float(max(entry[key] for entry in entries))
    return float(sum(entry[key] * entry.get("count", 1) for entry in entries))
