"""Faults of the YAML files: file, line, op and key, what is wrong, what is accepted."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """Where an entry stands; `lines` maps a key (or "key.subkey") to its line."""

    file: str
    line: int
    op: str = ""
    lines: tuple[tuple[str, int], ...] = ()

    def line_of(self, key: str) -> int:
        lines = dict(self.lines)
        return lines.get(key, lines.get(key.split(".")[0], self.line))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SpecError(Exception):
    """One fault of one entry."""

    def __init__(self, at: Location, key: str, wrong: str, accepted: str):
        self.at, self.key, self.line = at, key, at.line_of(key)
        self.wrong, self.reason = wrong, f"{wrong}; {accepted}"
        subject = f"op '{at.op}', key '{key}'" if at.op else f"key '{key}'"
        super().__init__(f"{at.file}:{self.line}: {subject}: {self.reason}")


class SpecErrors(Exception):
    """All faults found, one per entry."""

    def __init__(self, errors: list[SpecError]):
        self.errors = errors
        super().__init__("\n".join(str(error) for error in errors))


def nearest(name: str, known: Iterable[str]) -> str:
    """" (did you mean 'x'?)" where a known name is close, else ""."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean '{close[0]}'?)" if close else ""


def listing(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
