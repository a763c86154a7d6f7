"""Loss, throughput and learning rate by step; runs are laid over each other."""

from collections.abc import Sequence

from autophi.viewing.charts import Section, lines
from autophi.viewing.sources import Run, Sources


def loss(sources: Sources) -> Section:
    series = [(run.name, _steps(run), run.losses) for run in sources.runs if run.losses]
    return Section("loss", "Loss by step", [lines(series, "loss", "%{y:.5g}")] if series else [],
                   "a report or metrics of a run")


def throughput(sources: Sources) -> Section:
    runs = [(run, rates) for run in sources.runs if (rates := _rates(run))]
    units = {rate_unit(run) for run, _ in runs}
    unit = units.pop() if len(units) == 1 else "items/s"
    series = [(run.name, _steps(run), rates) for run, rates in runs]
    parts = [lines(series, unit, f"%{{y:,.4~g}} {unit}", rangemode="tozero", tickformat="~s")] if series else []
    return Section("throughput", f"Throughput by step ({unit})" if series else "Throughput by step", parts,
                   "a report or metrics of a run")


def learning_rate(sources: Sources) -> Section:
    series = [(run.name, _steps(run), [line["lr"] for line in run.metrics])
              for run in sources.runs if run.metrics and all("lr" in line for line in run.metrics)]
    parts = [lines(series, "learning rate", "%{y:.4~g}", rangemode="tozero", exponentformat="e")] if series else []
    return Section("learning_rate", "Learning rate by step", parts, "metrics of a run (autophi run --metrics)")


def rate_unit(run: Run) -> str:
    return "img/s" if run.report.get("data", {}).get("kind") == "images" else "tok/s"


def _steps(run: Run) -> Sequence[int]:
    if run.metrics:
        return [line["step"] for line in run.metrics]
    first = run.report.get("first_step", 1)
    return range(first, first + len(run.losses))


def _rates(run: Run) -> list[float]:
    """Return the items of a step by the seconds of each step."""
    if run.metrics:
        seconds = [line.get("seconds") or 0.0 for line in run.metrics]
        # The rate of a line is that of all steps so far.
        items = round((run.metrics[0].get("tokens_per_s") or 0.0) * seconds[0])
    else:
        seconds = list(run.report.get("step_seconds") or [])
        done = (run.report.get("tokens_per_s") or 0.0) * (run.report.get("seconds") or 0.0)
        items = round(done / max(len(seconds), 1))
    if not items or len(seconds) != len(run.losses) or min(seconds, default=0) <= 0:
        return []
    return [items / each for each in seconds]
