"""One small bug: its position, its change, its name and its text."""

import hashlib
from dataclasses import dataclass
from typing import Callable, Iterable, Iterator, NamedTuple

# What the kinds mean, as --list-kinds and docs/testing.md say it.
KINDS = {
    "comparison": "a comparison turned: < to <= or >=, == to !=",
    "one-more": "an integer, or the bound of a loop, one more or one less",
    "arithmetic": "an operator exchanged: + and -, * and /, += and -=, & and |",
    "statement": "a statement left out",
    "guard": "an early return, continue, break or throw left out",
    "arguments": "two neighbouring arguments of a call swapped",
    "condition": "a condition made constant",
    "logic": "&& and || exchanged, ! removed",
    "min-max": "min and max exchanged, any and all, sorted left out",
    "memory-order": "a memory order weakened",
    "key": "a named key that is ignored",
}


class Edit(NamedTuple):
    """Replaces text[begin:end]; `kind` is one of KINDS."""

    kind: str
    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """`path` is relative to the tree's root; `before` and `after` are the lines that differ."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    number: int  # which of the equal changes of this file, counted from 0
    edit: Edit

    @property
    def id(self) -> str:
        """Unchanged while the line is unchanged, wherever it is in the file."""
        named = "\0".join((self.path, self.kind, self.before, self.after, str(self.number)))
        return hashlib.sha256(named.encode()).hexdigest()[:8]

    def apply(self, text: str) -> str:
        return text[:self.edit.begin] + self.edit.text + text[self.edit.end:]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind} #{self.id}"

    def diff(self) -> str:
        return f"  - {self.before}\n  + {self.after}"


def _shown(text: str, begin: int, end: int) -> str:
    """The lines that contain [begin, end), on one line."""
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", max(begin, end - 1))
    return " ".join(text[first:len(text) if last < 0 else last].split())


def mutants_of(path: str, text: str, find: Callable[[str], Iterable[Edit]]) -> list[Mutant]:
    """The proposals of `find`, each different text once, by position."""
    found: dict[tuple, Edit] = {}
    for edit in find(text):
        if text[edit.begin:edit.end] != edit.text:
            found.setdefault((edit.begin, edit.end, edit.text), edit)
    ordered = sorted(found.values(), key=lambda edit: (edit.begin, edit.end, edit.text))
    return list(_numbered(path, text, ordered))


def _numbered(path: str, text: str, edits: list[Edit]) -> Iterator[Mutant]:
    seen: dict[tuple, int] = {}
    for edit in edits:
        before = _shown(text, edit.begin, edit.end)
        changed = text[:edit.begin] + edit.text + text[edit.end:]
        after = _shown(changed, edit.begin, edit.begin + len(edit.text))
        same = (edit.kind, before, after)
        number = seen.get(same, 0)
        seen[same] = number + 1
        line = text.count("\n", 0, edit.begin) + 1
        yield Mutant(path, line, edit.kind, before, after, number, edit)
