"""Rows of figures by rank: ranks where they are few, classes of equal ranks where they are many."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from autophi.viewing.sources import Values
from autophi.viewing.units import count_text

MOST_ROWS = 64
_LONGEST = 16  # letters of a list of ranks


@dataclass
class RankRow:
    """A rank, or a class of ranks with equal values."""

    label: str
    count: int
    values: Values


def rank_rows(entries: Sequence[Values], keys: Sequence[str]) -> tuple[list[RankRow], str]:
    """Return a row per entry, and what to say of rows that are no single ranks.

    More than MOST_ROWS entries become classes of those with equal values of `keys`. Of more classes than that, those
    with the largest first key are kept.
    """
    rows = [RankRow(_label(entry), entry.get("count", 1), entry) for entry in entries]
    if len(rows) > MOST_ROWS:
        rows = _classes(entries, keys)
    ranks = sum(row.count for row in rows)
    if all(row.count == 1 for row in rows) and len(rows) <= MOST_ROWS:
        return rows, ""
    note = f"{count_text(ranks, 'rank')} in {count_text(len(rows), 'class', 'classes')} of equal ranks."
    if len(rows) > MOST_ROWS:
        rows = sorted(rows, key=lambda row: _size(row.values.get(keys[0])), reverse=True)[:MOST_ROWS]
        note += f" Shown are the {MOST_ROWS} with the largest {keys[0].replace('_', ' ')}."
    return rows, note


def ranks_text(ranks: Sequence[int]) -> str:
    """Return sorted ranks as "0-7, 16"."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and runs[-1][1] + 1 == rank:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _label(entry: Values) -> str:
    if "ranks" in entry:
        return _class_label(str(entry["ranks"]), entry.get("count", 1))
    return f"rank {entry.get('rank', '?')}"


def _class_label(ranks: str, count: int) -> str:
    if count == 1:
        return f"rank {ranks}"
    short = ranks
    if len(ranks) > _LONGEST:
        end = ranks.rfind(",", 0, _LONGEST)
        short = f"{ranks[:end] if end > 0 else ranks.split(',')[0]}, .."
    return f"{short} ({count_text(count, 'rank')})"


def _classes(entries: Sequence[Values], keys: Sequence[str]) -> list[RankRow]:
    alike: dict[str, list[Values]] = {}
    for entry in entries:
        alike.setdefault(json.dumps([entry.get(key) for key in keys]), []).append(entry)
    rows = []
    for each in alike.values():
        count = sum(entry.get("count", 1) for entry in each)
        names = [str(entry["ranks"]) for entry in each if "ranks" in entry]
        ranks = ", ".join(names) if names else ranks_text(sorted(entry.get("rank", 0) for entry in each))
        rows.append(RankRow(_class_label(ranks, count), count, each[0]))
    return rows


def _size(value: object) -> float:
    if isinstance(value, dict):
        return sum(value.values())
    return float(value) if isinstance(value, int | float) else 0.0
