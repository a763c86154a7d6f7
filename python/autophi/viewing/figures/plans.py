"""Plans side by side: their layouts, where the time of a step goes, and what they hold."""

import json
from collections.abc import Mapping, Sequence

from autophi.viewing.charts import Note, Part, Section, Table, stacked_bars
from autophi.viewing.figures.rank_times import PARTS
from autophi.viewing.sources import Plans, Sources, Values
from autophi.viewing.units import bytes_text, count_text, percent_text, scale_of_seconds, seconds_text

MOST_PLANS = 50
_LONGEST = 60  # letters of a cell


def section(sources: Sources) -> Section:
    parts: list[Part] = []
    for each in sources.plans:
        parts += _parts(each)
    return Section("plans", "Plans side by side", parts, "plans (autophi plan --json)")


def _parts(file: Plans) -> list[Part]:
    named = [(f"plan {number}", plan) for number, plan in enumerate(file.plans[:MOST_PLANS], 1)]
    named += [(str(rule.get("rule")), rule["plan"]) for rule in _maps(file.values.get("rules_of_thumb"))
              if rule.get("plan")]
    if not named:
        return [Note(file.name, "has no plans.")]
    plans = [plan for _, plan in named]
    layouts = [_flat(plan.get("layout") or {}) for plan in plans]
    keys = list(dict.fromkeys(key for layout in layouts for key in layout))
    texts = {key: [_text(layout.get(key)) for layout in layouts] for key in keys}
    shared = [key for key in keys if len(set(texts[key])) == 1]
    differing = [key for key in keys if key not in shared]
    number = len(file.plans)
    words = count_text(number, "plan") + (f", the first {MOST_PLANS} are shown" if number > MOST_PLANS else "") + "."
    if shared and len(plans) > 1:
        words += f" All have {', '.join(f'{key}: {texts[key][0]}' for key in shared if texts[key][0])}."
    columns = differing if len(plans) > 1 else keys
    figures = [_figures(plan) for plan in plans]
    shown = [column for column in figures[0] if any(each[column] for each in figures)]
    rows = [[named[index][0], *(figures[index][column] for column in shown), *(texts[key][index] for key in columns)]
            for index in range(len(plans))]
    parts: list[Part] = [Note(file.name, words), Table(["", *shown, *columns], rows)]
    return parts + _chart(named) + _refused(_maps(file.values.get("refused")))


def _maps(value: object) -> list[Values]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _refused(reasons: Sequence[Values]) -> list[Part]:
    """Return why other layouts are no plans."""
    if not reasons:
        return []
    rows = [[str(each.get("reason", "")), f"{each.get('layouts', 0):,}"] for each in reasons]
    return [Note("", "Layouts that are refused:"), Table(["reason", "layouts"], rows)]


def _figures(plan: Values) -> dict[str, str]:
    """Return what is predicted of a plan. Missing parts are empty."""
    predicted = plan.get("predicted") or {}
    peak = plan.get("peak_tensor_bytes") or max(
        (entry.get("peak_tensor_bytes", 0) for entry in predicted.get("ranks") or []), default=None)
    limit = predicted.get("device_bytes")
    rate = predicted.get("tokens_per_s")
    return {"time of a step": seconds_text(predicted.get("step_seconds")),
            "tok/s": f"{rate:,.0f}" if rate else "",
            "MFU": percent_text(predicted.get("mfu")),
            "peak memory": bytes_text(peak),
            "of a device": percent_text(peak / limit, 0) if peak and limit else ""}


def _chart(named: Sequence[tuple[str, Values]]) -> list[Part]:
    """Return where the time goes, as the mean over ranks: the three parts add up to a step."""
    known = [(label, values) for label, values in ((name, plan.get("predicted") or {}) for name, plan in named)
             if values.get("step_seconds") and values.get("ranks") and PARTS.keys() <= values["ranks"][0].keys()]
    if not known:
        return []
    divisor, unit = scale_of_seconds([values["step_seconds"] for _, values in known])
    means = {name: [_mean(values["ranks"], key) / divisor for _, values in known] for key, (name, _) in PARTS.items()}
    return [Note("", "Where the time of a step goes, mean over ranks:"),
            stacked_bars([label for label, _ in known], means, f"time of a step, {unit}", unit, dict(PARTS.values()))]


def _mean(entries: Sequence[Values], key: str) -> float:
    counts = [entry.get("count", 1) for entry in entries]
    return float(sum(entry[key] * count for entry, count in zip(entries, counts, strict=True)) / sum(counts))


def _flat(layout: Values, prefix: str = "") -> dict[str, object]:
    """Return keys of maps within maps with dots; meshes and maps of patterns stay whole."""
    out: dict[str, object] = {}
    for key, value in layout.items():
        if isinstance(value, Mapping) and key in ("run", "pipeline"):
            out.update(_flat(value, f"{prefix}{key}."))
        else:
            out[prefix + key] = value
    return out


def _text(value: object) -> str:
    """Return a value of a layout in a cell."""
    if value is None or value == []:
        return ""
    if isinstance(value, Mapping) and {"shape", "dims"} <= value.keys():
        return " x ".join(f"{dim} {size}" for dim, size in zip(value["dims"], value["shape"], strict=False))
    if isinstance(value, list) and len(value) > 2 and len(set(map(str, value))) == 1:
        return f"{len(value)} x {_text(value[0])}"
    if isinstance(value, Mapping):
        text = ", ".join(f"{key}: {_text(each)}" for key, each in value.items())
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST - 2] + ".."
