"""Lays generated code out as clang-format's Google style does, so that no formatter is needed."""

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


_FUNCTION = re.compile(r"\s*(?!(?:if|for|while|else|namespace)\b)\w[^=]*\).* \{\Z")


def _with_short_functions(lines: Sequence[str]) -> list[str]:
    """A function whose body is one statement, or none, is one line if that is not too long."""
    result: list[str] = []
    for line in map(str.rstrip, lines):
        result.append(line)
        for size in (2, 3) if line.strip() == "}" else ():
            head, *body = result[-size:-1] or [""]
            joined = f"{head} {body[0].strip()} }}" if body else f"{head}}}"
            if _FUNCTION.match(head) and len(joined) <= LIMIT and joined.endswith(("; }", "{}")):
                result[-size:] = [joined]
                break
    return result


def _fit_line(line: str) -> Sequence[str]:
    if len(line) <= LIMIT or line.startswith("#"):
        return [line]
    return _fit_comment(line) if line.lstrip().startswith("//") else _fit_code(line)


def _fit_comment(line: str) -> list[str]:
    """Continuation lines are aligned with the text; in "/// Label   text" with the text after the label."""
    start = re.match(r"(\s*///?) (?:\w+  +)?", line)
    assert start
    return textwrap.wrap(line, LIMIT, subsequent_indent=start[1].ljust(start.end()),
                         break_long_words=False, break_on_hyphens=False)


_HEAD = re.compile(r"\s*(?!return\b|const Call call\b)[\w:][^(=]*[ &]\w+\(")


@cache
def _fit_code(line: str) -> tuple[str, ...]:
    constructor = re.match(r"(.*\)) : (\w+\(.*) \{\Z", line)
    if constructor:
        return _fit_constructor(constructor[1], split_top(constructor[2]))
    head = re.match(r"(std::tuple<.*>) (\w+\(.*)\Z", line)
    if head and len(head[1]) > LIMIT:  # the function begins a line where its type takes several
        return (*break_line(head[1]), *break_line(head[2], declares=True))
    return _fit_chain(line) or break_line(line, declares=bool(_HEAD.match(line)))


def _fit_constructor(head: str, initialisers: Sequence[str]) -> tuple[str, ...]:
    """Member initialisers follow the constructor's declaration, on one line or one line each."""
    below = " " * (len(head) - len(head.lstrip()) + 4)
    first, *others = initialisers
    fitted = [f"{below}: {', '.join(initialisers)} {{"]
    if len(fitted[0]) > LIMIT:
        ends = [*[","] * len(others), " {"]
        fitted = [f"{below}: {first}{ends[0]}",
                  *(f"{below}  {other}{end}" for other, end in zip(others, ends[1:]))]
    return (*break_line(head, declares=True), *fitted)


def _fit_chain(line: str) -> tuple[str, ...]:
    """`a().b(...).c(...)`: a line for each call after the first."""
    inner = brackets(line)
    dots = [m.start() + 1 for m in re.finditer(r"\)\.\w+\(", line)
            if not any(b.opening < m.start() < b.closing for b in inner)]
    if len(dots) < 2:
        return ()
    start = line.find(" = ") + 3 if " = " in line[:dots[0]] else len(line) - len(line.lstrip())
    calls = [line[a:b] for a, b in zip(dots, [*dots[1:], len(line)])]
    return (*_fit_line(line[:dots[0]]), *(" " * (start + 4) + call for call in calls))
