"""Faults of the YAML files: file, line, op and key, what is wrong, what is accepted."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Location:
    """The location of an entry; `lines` maps a key (or "key.subkey") to its line."""

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


class Consequence(SpecError):
    """A fault that may be a consequence of another one of the entry: a signature that could not be parsed."""


class SpecErrors(Exception):
    """All faults found."""

    def __init__(self, errors: list[SpecError]):
        self.errors = errors
        super().__init__("\n".join(str(error) for error in errors))


def gather(check: Callable[[], object], errors: list[SpecError]) -> None:
    """Adds the faults that a check raises to `errors`."""
    try:
        check()
    except SpecError as error:
        errors.append(error)
    except SpecErrors as several:
        errors += several.errors


@dataclass(frozen=True)
class Unread:
    """Names of entries that could not be parsed, so that others cannot be compared with them.
    `any_name`: an entire file could not be parsed."""

    names: frozenset[str] = frozenset()
    any_name: bool = False

    @staticmethod
    def of(faults: Iterable[SpecError]) -> "Unread":
        names = frozenset(fault.at.op for fault in faults)
        return Unread(names, "" in names)

    def __contains__(self, name: str | None) -> bool:
        return self.any_name or name in self.names


def read_text(path: Path, shown: str = "") -> str:
    """Returns the text of a file. Errors: SpecError, which names it `shown`, if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        before = path.read_bytes()[:error.start]
        raise SpecError(Location(shown or path.as_posix(), before.count(b"\n") + 1), "file",
                        f"not UTF-8: byte 0x{error.object[error.start]:02x} in column "
                        f"{len(before.rpartition(bytes([10]))[2]) + 1}",
                        "text in UTF-8 is accepted") from None


def nearest(name: str, known: Iterable[str]) -> str:
    """" (did you mean 'x'?)" if a known name is close, else ""."""
    close = closest(name, known)
    return f" (did you mean '{close}'?)" if close else ""


def closest(name: str, known: Iterable[str]) -> str:
    """Returns a known name that is close, or ""."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), "")


def listing(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
