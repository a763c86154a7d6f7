"""The mesh of a run, and how each parameter lies on it."""

import re
from collections.abc import Sequence

from autophi.viewing.charts import Note, Part, Section, Table
from autophi.viewing.ranks import ranks_text
from autophi.viewing.sources import Sources, Values
from autophi.viewing.units import count_text

MOST_ROWS = 400


def section(sources: Sources) -> Section:
    parts: list[Part] = []
    for run in sources.runs:
        if placed := run.report.get("placements"):
            parts += [Note(run.name, f"{mesh_text(run.report.get('mesh', ''))}. R: replicated along the mesh dim; S0, "
                           "S1: split by tensor dim 0, 1. Equal layers share a row."), _table(placed)]
    return Section("placements", "The mesh and each parameter's placements", parts, "a report of a run")


def mesh_text(mesh: str) -> str:
    """Return "dp=2,tp=4" as "mesh of 8 ranks: dp 2 x tp 4"."""
    sizes = [int(size) for size in re.findall(r"=(\d+)", mesh)]
    ranks = 1
    for size in sizes:
        ranks *= size
    return f"mesh of {count_text(ranks, 'rank')}: {mesh.replace('=', ' ').replace(',', ' x ')}"


def _table(placed: Sequence[Values]) -> Table:
    dims = list(dict.fromkeys(dim for each in placed for dim in each["placements"]))
    rows: dict[tuple[object, ...], list[Values]] = {}
    for each in placed:
        key = (re.sub(r"\d+", "*", each["name"]), tuple(each["shape"]), tuple(each["placements"].items()))
        rows.setdefault(key, []).append(each)
    columns = ["parameter", "shape", *dims]
    has_stages = any(each.get("stage") for each in placed)
    cells = []
    for alike in list(rows.values())[:MOST_ROWS]:
        stages = [ranks_text(sorted({each.get("stage", 0) for each in alike}))] if has_stages else []
        shape = " x ".join(map(str, alike[0]["shape"])) or "scalar"
        cells.append([merged_name([each["name"] for each in alike]), shape,
                      *(alike[0]["placements"].get(dim, "") for dim in dims), *stages])
    if len(rows) > MOST_ROWS:
        cells.append([f"and {len(rows) - MOST_ROWS} more", *[""] * (len(columns) - 1 + has_stages)])
    return Table(columns + ["stage"] * has_stages, cells, texts=len(columns) + has_stages)


def merged_name(names: Sequence[str]) -> str:
    """Return names that differ in numbers as one: "block{0-5}.norm.weight"."""
    numbers = [[int(number) for number in re.findall(r"\d+", name)] for name in names]
    columns = iter([sorted(set(column)) for column in zip(*numbers, strict=True)])

    def text(_: re.Match[str]) -> str:
        column = next(columns)
        return str(column[0]) if len(column) == 1 else f"{{{ranks_text(column)}}}"
    return re.sub(r"\d+", text, names[0])
