"""Lays generated code out the way clang-format's Google style does, so that no formatter is needed."""

import re
import textwrap
from collections.abc import Sequence
from functools import cache

from api_gen.breaks import LIMIT, brackets, break_line
from api_gen.grammar import split_top


def fit(text: str) -> str:
    """Short functions on one line, all lines within LIMIT columns, no trailing blanks, at most one
    empty line in a row."""
    lines: list[str] = []
    for line in _with_short_functions(text.split("\n")):
        if line or (lines and lines[-1]):
            lines.extend(_fit_line(line))
    return "\n".join(lines).strip("\n") + "\n"


_FUNCTION = re.compile(r"\s*(?!if|for|while|else|namespace|class|struct)\w[^=]*\).* \{\Z")


def _with_short_functions(lines: Sequence[str]) -> list[str]:
    """A function whose body is one statement, or none, is one line if that is not too long."""
    result: list[str] = []
    for line in map(str.rstrip, lines):
        result.append(line)
        for body in (1, 2):
            head = result[-body - 1] if len(result) > body else ""
            if line.strip() != "}" or not _FUNCTION.match(head) or "[&]" in head:
                continue
            inside = " ".join(part.strip() for part in result[-body:-1])
            joined = f"{head} {inside} }}" if inside else f"{head}}}"
            if len(joined) <= LIMIT and (not inside or inside.endswith(";")):
                result[-body - 1:] = [joined]
            break
    return result


def _fit_line(line: str) -> Sequence[str]:
    if len(line) <= LIMIT or line.startswith("#"):
        return [line]
    return _fit_comment(line) if line.lstrip().startswith("//") else _fit_code(line)


def _fit_comment(line: str) -> list[str]:
    """Further lines are aligned with the text; in "/// Label   text" behind the label."""
    start = re.match(r"(\s*///?) (?:\w+  +)?", line)
    assert start
    return textwrap.wrap(line, LIMIT, subsequent_indent=start[1].ljust(start.end()),
                         break_long_words=False, break_on_hyphens=False)


_HEAD = re.compile(r"\s*(?!return\b)[\w:][^(=]*[ &]\w+\(")


@cache
def _fit_code(line: str) -> tuple[str, ...]:
    constructor = re.match(r"(.*\)) : (\w+\(.*) \{\Z", line)
    if constructor:
        return _fit_constructor(constructor[1], split_top(constructor[2]))
    return _fit_chain(line) or break_line(line, declares=bool(_HEAD.match(line)))


def _fit_constructor(head: str, initialisers: Sequence[str]) -> tuple[str, ...]:
    """What it initialises is below its head, on one line or each on its own."""
    below = " " * (len(head) - len(head.lstrip()) + 4)
    joined = f"{below}: {', '.join(initialisers)} {{"
    fitted = [joined] if len(joined) <= LIMIT else (
        f"{below}: " + f",\n{below}  ".join(initialisers) + " {").split("\n")
    return (*_fit_line_of_head(head), *fitted)


def _fit_line_of_head(head: str) -> tuple[str, ...]:
    return (head,) if len(head) <= LIMIT else break_line(head, declares=True)


def _fit_chain(line: str) -> tuple[str, ...]:
    """`a().b(...).c(...)`: a line for each call after the first."""
    inner = brackets(line)
    dots = [m.start() + 1 for m in re.finditer(r"\)\.\w+\(", line)
            if not any(b.opening < m.start() < b.closing for b in inner)]
    if len(dots) < 2:
        return ()
    start = line.find(" = ") + 3 if " = " in line[:dots[0]] else len(line) - len(line.lstrip())
    calls = [line[a:b] for a, b in zip(dots, [*dots[1:], len(line)])]
    return (line[:dots[0]], *(" " * (start + 4) + call for call in calls))
