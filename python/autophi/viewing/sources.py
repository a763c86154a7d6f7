"""Reads the files of a page. The keys of a file say what it is."""

import difflib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, Any]

KINDS = """a report (autophi run --report), metrics (autophi run --metrics), a trace (--trace), a prediction (autophi \
simulate --json) or plans (autophi plan --json)"""


@dataclass
class Run:
    """A measured job: its report, its metrics, or both."""

    name: str
    report: Values = field(default_factory=dict)
    metrics: list[Values] = field(default_factory=list)  # by step

    @property
    def losses(self) -> list[float]:
        return [line["loss"] for line in self.metrics] or list(self.report.get("losses") or [])


@dataclass
class Predicted:
    """A prediction: of a file, or the one that a report contains."""

    name: str
    values: Values
    of: Run | None = None  # the run whose report contains it


def name_of(predicted: Predicted) -> str:
    """Return what figures call a prediction."""
    return f"{predicted.name}, predicted" if predicted.of else predicted.name


@dataclass
class Trace:
    name: str
    events: list[Values]
    other: Values


@dataclass
class Plans:
    name: str
    plans: list[Values]
    values: Values  # all of the file


@dataclass
class Sources:
    """All that a page is about, by kind, in the order of the command line."""

    runs: list[Run] = field(default_factory=list)
    predictions: list[Predicted] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    plans: list[Plans] = field(default_factory=list)
    rows: list[tuple[str, str]] = field(default_factory=list)  # name and kind of each source


def read(given: Iterable[object]) -> Sources:
    """Read paths, or accept values. Errors: ValueError that names the source."""
    given = list(given)
    if not given:
        raise ValueError(f"nothing to view; pass {KINDS}.")
    sources = Sources()
    stems = Counter(_stem(source) for source in given)
    for source in given:
        values, called = _values(source)
        kind = _kind_of(values, called)
        stem = _stem(source)
        name = _unused((str(source) if stems[stem] > 1 else stem) if stem else kind, sources)
        sources.rows.append((name, kind))
        _add(sources, name, kind, values)
    _join_metrics(sources)
    return sources


def _stem(source: object) -> str:
    """Return the name of a file without folder and suffix; of values, nothing."""
    return os.path.splitext(os.path.basename(os.fspath(source)))[0] if isinstance(source, str | os.PathLike) else ""


def _unused(name: str, sources: Sources) -> str:
    taken = {each for each, _ in sources.rows}
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 2))
    return next(each for each in (name, *numbered) if each not in taken)


def _values(source: object) -> tuple[Any, str]:
    """Return the values of a source, and what messages call it."""
    if isinstance(source, Mapping):
        return source, "a dict"
    if not isinstance(source, str | os.PathLike):
        values = getattr(source, "values", None)
        if not isinstance(values, Mapping):
            raise ValueError(f"an object of type {type(source).__name__} cannot be viewed; pass {KINDS}, or its dict.")
        return values, f"a {type(source).__name__}"
    path = os.fspath(source)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ValueError(f"cannot read '{path}': {error.strerror}{_nearest_file(path)}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"'{path}' is not text; pass {KINDS}.") from None
    return _parse(text, path), f"'{path}'"


def _parse(text: str, path: str) -> Any:
    """Return the value of a JSON file; of JSON lines, a list."""
    if not text.strip():
        raise ValueError(f"'{path}' is empty; pass {KINDS}.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as whole:
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    lines.append(json.loads(line))
            except json.JSONDecodeError as error:
                if not lines:
                    raise ValueError(f"{path}:{whole.lineno}: this is no JSON: {whole.msg}.") from None
                raise ValueError(f"{path}:{number}: this is no JSON: {error.msg}.") from None
        return lines


def _nearest_file(path: str) -> str:
    try:
        there = os.listdir(os.path.dirname(path) or ".")
    except OSError:
        return ""
    near = difflib.get_close_matches(os.path.basename(path), there, 1)
    return f"; did you mean '{os.path.join(os.path.dirname(path), near[0])}'?" if near else ""


def _is_metrics(values: Any) -> bool:
    lines = values if isinstance(values, list) else [values]
    return bool(lines) and all(isinstance(line, Mapping) and {"step", "loss"} <= line.keys() for line in lines)


def _kind_of(values: Any, called: str) -> str:
    """Return the kind that the keys say. ValueError, with the keys, for any other."""
    keys = values.keys() if isinstance(values, Mapping) else set()
    if _is_metrics(values):
        return "metrics"
    if {"world_size", "ranks"} <= keys:
        return "report"
    if {"step_seconds", "ranks"} <= keys:
        return "prediction"
    if isinstance(values, Mapping) and isinstance(values.get("traceEvents"), list):
        return "simulated trace" if values.get("otherData", {}).get("simulated") else "trace"
    if isinstance(values, Mapping) and isinstance(values.get("plans"), list):
        return "plans"
    has = f"it has the keys {', '.join(list(map(str, keys))[:8])}" if keys else "it is no object of JSON with keys"
    raise ValueError(f"{called} is none of the files that can be viewed: {has}. Pass {KINDS}.")


def _add(sources: Sources, name: str, kind: str, values: Any) -> None:
    if kind == "metrics":
        lines = values if isinstance(values, list) else [values]
        # Steps are repeated after a rollback and by a job that appends; the last one counts.
        sources.runs.append(Run(name, metrics=sorted({line["step"]: line for line in lines}.values(),
                                                     key=lambda line: line["step"])))
    elif kind == "report":
        run = Run(name, report=values)
        sources.runs.append(run)
        if values.get("predicted"):
            sources.predictions.append(Predicted(name, values["predicted"], of=run))
    elif kind == "prediction":
        sources.predictions.append(Predicted(name, values))
    elif kind == "plans":
        sources.plans.append(Plans(name, [plan for plan in values["plans"] if isinstance(plan, Mapping)], values))
    else:
        sources.traces.append(Trace(name, values["traceEvents"], values.get("otherData", {})))


def _join_metrics(sources: Sources) -> None:
    """Metrics with the losses of a report are those of the same run."""
    for metrics in [run for run in sources.runs if run.metrics]:
        same = [run for run in sources.runs if not run.metrics and run.losses and run.losses == metrics.losses]
        if same:
            same[0].metrics = metrics.metrics
            sources.runs.remove(metrics)
