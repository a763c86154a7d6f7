"""What was read: each file, and what it says of the whole job."""

from autophi.viewing.charts import Section, Table
from autophi.viewing.figures.comparison import measured_seconds, number_of_ranks
from autophi.viewing.figures.steps import rate_unit
from autophi.viewing.sources import Run, Sources, Values
from autophi.viewing.units import bytes_text, percent_text, rate_text, seconds_text

COLUMNS = ("name", "kind", "job", "mesh", "ranks", "steps", "time of a step", "throughput", "MFU", "peak memory")


def section(sources: Sources) -> Section:
    runs = {run.name: run for run in sources.runs}
    predictions = {each.name: each.values for each in sources.predictions if each.of is None}
    rows = []
    for name, kind in sources.rows:
        cells = [name, kind]
        if name in runs:
            cells += _of_run(runs[name])
        elif name in predictions:
            cells += _of_prediction(predictions[name])
        rows.append([*cells, *[""] * (len(COLUMNS) - len(cells))])
    shown = [index for index, _ in enumerate(COLUMNS) if index < 2 or any(row[index] for row in rows)]
    return Section("files", "Files", [Table([COLUMNS[i] for i in shown], [[row[i] for i in shown] for row in rows],
                                            texts=sum(index < 4 for index in shown))], "")


def _of_run(run: Run) -> list[str]:
    report = run.report
    steps = len(run.losses) or len(report.get("step_seconds") or [])
    peak = max((entry.get("peak_tensor_bytes", 0) for entry in report.get("ranks") or []), default=None)
    peak = peak or max((line.get("peak_tensor_bytes", 0) for line in run.metrics), default=None)
    ranks = report.get("world_size")
    return [report.get("job", ""), report.get("mesh", ""), f"{ranks:,}" if ranks else "", f"{steps:,}" if steps else "",
            seconds_text(measured_seconds(run)), rate_text(report.get("tokens_per_s") or None, rate_unit(run)),
            percent_text(report.get("mfu")), bytes_text(peak or None)]


def _of_prediction(values: Values) -> list[str]:
    peak = max((entry.get("peak_tensor_bytes", 0) for entry in values.get("ranks") or []), default=None)
    return ["", "", f"{number_of_ranks(values):,}", "", seconds_text(values.get("step_seconds")),
            rate_text(values.get("tokens_per_s") or None), percent_text(values.get("mfu")), bytes_text(peak or None)]
