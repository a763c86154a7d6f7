"""Bytes of messages by rank or class: by collective and link, and sent and received."""

from autophi.viewing.charts import COLOURS, Note, Part, Section, stacked_bars
from autophi.viewing.ranks import rank_rows
from autophi.viewing.sources import Sources, Values, name_of
from autophi.viewing.units import scale_of_bytes

COLOURS_OF = dict(zip(("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "broadcast"), COLOURS))


def by_collective(sources: Sources) -> Section:
    parts: list[Part] = []
    for run in sources.runs:
        entries = run.report.get("ranks") or []
        if any(sent["bytes"] for entry in entries for sent in entry.get("collectives", {}).values()):
            parts += _collectives(run.name, entries)
    return Section("collectives", "Bytes sent to other ranks, by collective", parts, "a report of a run")


def by_link(sources: Sources) -> Section:
    parts: list[Part] = []
    for predicted in sources.predictions:
        entries = predicted.values.get("ranks") or []
        if any(entry.get("bytes_by_link") for entry in entries):
            parts += _links(name_of(predicted), entries)
    return Section("links", "Bytes sent in a step, by collective and link", parts, "a prediction of several ranks")


def by_rank(sources: Sources) -> Section:
    parts: list[Part] = []
    named = [(run.name, run.report.get("ranks") or []) for run in sources.runs]
    named += [(name_of(each), each.values.get("ranks") or []) for each in sources.predictions]
    for name, entries in named:
        if any(entry.get("bytes_sent") or entry.get("bytes_received") for entry in entries):
            parts += _sent_and_received(name, entries)
    return Section("messages", "Bytes sent and received by rank", parts, "a report or a prediction of several ranks")


def _collectives(name: str, entries: list[Values]) -> list[Part]:
    rows, note = rank_rows(entries, ("bytes_sent", "collectives"))
    kinds = sorted({kind for entry in entries for kind, sent in entry.get("collectives", {}).items() if sent["bytes"]})
    sizes = {kind: [row.values.get("collectives", {}).get(kind, {}).get("bytes", 0) for row in rows] for kind in kinds}
    divisor, unit = scale_of_bytes([sum(column) for column in zip(*sizes.values(), strict=True)])
    return [Note(name, f"{note} In all steps of the job."),
            stacked_bars([row.label for row in rows],
                         {kind: [size / divisor for size in sizes[kind]] for kind in kinds},
                         f"bytes sent, {unit}", unit, COLOURS_OF)]


def _links(name: str, entries: list[Values]) -> list[Part]:
    rows, note = rank_rows(entries, ("bytes_sent", "bytes_by_link"))
    pairs = sorted({(call, link) for row in rows for call, links in row.values["bytes_by_link"].items()
                    for link in links})
    sizes = [[row.values["bytes_by_link"].get(call, {}).get(link, 0) for row in rows] for call, link in pairs]
    divisor, unit = scale_of_bytes([sum(column) for column in zip(*sizes, strict=True)])
    return [Note(name, f"{note} A link is the outermost level of links that the rank's messages of a call use."),
            stacked_bars([row.label for row in rows],
                         {f"{call}, {link}": [size / divisor for size in own]
                          for (call, link), own in zip(pairs, sizes, strict=True)}, f"bytes sent, {unit}", unit)]


def _sent_and_received(name: str, entries: list[Values]) -> list[Part]:
    rows, note = rank_rows(entries, ("bytes_sent", "bytes_received"))
    sizes = {"sent": [row.values.get("bytes_sent", 0) for row in rows],
             "received": [row.values.get("bytes_received", 0) for row in rows]}
    divisor, unit = scale_of_bytes([size for each in sizes.values() for size in each])
    chart = stacked_bars([row.label for row in rows],
                         {kind: [size / divisor for size in each] for kind, each in sizes.items()},
                         f"bytes, {unit}", unit)
    chart.layout["barmode"] = "group"
    return [Note(name, f"{note} In all steps of the job."), chart]
