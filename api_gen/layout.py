"""Breaks long lines of generated code the way a person would, so that no formatter is needed."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

LIMIT = 100


def fit(text: str) -> str:
    """All lines within LIMIT columns; no trailing blanks; at most one empty line in a row."""
    lines: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.extend(_fit_line(line))
    return "\n".join(lines).strip("\n") + "\n"


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


@dataclass
class _Bracket:
    opening: int
    depth: int
    closing: int = -1
    commas: list[int] = field(default_factory=list)


def _brackets(line: str) -> list[_Bracket]:
    """The brackets of a line, outermost and leftmost first; those left open end with the line."""
    found: list[_Bracket] = []
    stack: list[_Bracket] = []
    quote = ""
    for i, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[i - 1] != "\\" else quote
        elif char == '"':
            quote = char
        elif char in "([{" or (char == "<" and line[i - 1].isalnum()):
            stack.append(_Bracket(i, len(stack)))
            found.append(stack[-1])
        elif stack and (char in ")]}" or (char == ">" and line[stack[-1].opening] == "<")):
            stack.pop().closing = i
        elif char == "," and stack:
            stack[-1].commas.append(i)
    for bracket in stack:
        bracket.closing = len(line)
    return sorted(found, key=lambda bracket: (bracket.depth, bracket.opening))


@cache
def _fit_code(line: str, after: int = -1) -> tuple[str, ...]:
    """The best of: arguments aligned behind a bracket, or all of them below it, or what comes after
    ` = ` below it. Best has no line too long, then few lines, then is the first named. Brackets up
    to column `after` are settled."""
    if len(line) <= LIMIT:
        return (line,)
    below = " " * (len(line) - len(line.lstrip()) + 4)
    options: list[tuple[str, ...]] = [(line,)]
    for bracket in _crossing(line, after):
        head, pieces = _pieces(line, bracket)
        if len(pieces) > 1:
            first, *rest = _filled(head, pieces, len(head))
            options.append((*_fit_code(first, bracket.opening), *_all_fit(rest)))
        if line[bracket.opening] in "({":
            options.append((head, *_all_fit(_filled(below, pieces, len(below)))))
    left, equals, right = line.partition(" = ")
    if equals and after < 0:
        options.append((f"{left} =", *_fit_code(below + right)))
    return min(options, key=lambda lines: (sum(len(part) > LIMIT for part in lines), len(lines)))


def _all_fit(lines: list[str]) -> tuple[str, ...]:
    return tuple(part for line in lines for part in _fit_code(line))


def _crossing(line: str, after: int) -> list[_Bracket]:
    """The brackets with something in them that cross the limit, or the last one before it."""
    filled = [b for b in _brackets(line) if after < b.opening < min(b.closing, len(line)) - 1]
    outermost = [b for b in filled if b.depth == filled[0].depth]
    return [b for b in filled if b.closing >= LIMIT > b.opening] or outermost[-1:]


def _pieces(line: str, bracket: _Bracket) -> tuple[str, list[str]]:
    starts = [bracket.opening + 1, *(comma + 1 for comma in bracket.commas)]
    ends = [*starts[1:], len(line)]
    pieces = [line[a:b].strip() for a, b in zip(starts, ends)]
    return line[:bracket.opening + 1], [piece for piece in pieces if piece]


def _filled(head: str, pieces: list[str], column: int) -> list[str]:
    lines, current, empty = [], head, True
    for piece in pieces:
        joined = current + ("" if empty else " ") + piece
        if empty or len(joined) <= LIMIT:
            current, empty = joined, False
            continue
        lines.append(current)
        current = " " * column + piece
    return [*lines, current]
