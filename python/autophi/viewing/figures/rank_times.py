"""Where the time of a predicted step goes, by rank or class."""

from autophi.viewing.charts import COLOURS, GREY, Note, Part, Section, stacked_bars
from autophi.viewing.ranks import rank_rows
from autophi.viewing.sources import Sources, name_of
from autophi.viewing.units import scale_of_seconds

PARTS = {"compute_seconds": ("computes", COLOURS[0]), "exposed_seconds": ("waits for messages under way", COLOURS[1]),
         "bubble_seconds": ("waits for other ranks", GREY)}


def section(sources: Sources) -> Section:
    parts: list[Part] = []
    for predicted in sources.predictions:
        entries = [entry for entry in predicted.values.get("ranks") or [] if PARTS.keys() <= entry.keys()]
        if not entries:
            continue
        rows, note = rank_rows(entries, tuple(PARTS))
        divisor, unit = scale_of_seconds([predicted.values["step_seconds"]])
        values = {name: [row.values[key] / divisor for row in rows] for key, (name, _) in PARTS.items()}
        parts.append(Note(name_of(predicted), note))
        parts.append(stacked_bars([row.label for row in rows], values, f"time of a step, {unit}", unit,
                                  dict(PARTS.values())))
    return Section("rank_times", "Predicted time by rank", parts, "a prediction (autophi simulate --json)")
