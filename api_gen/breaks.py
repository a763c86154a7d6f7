"""Where to break a statement that is too long for its line.

The breaks are those of clang-format's Google style, found in the same way: the cheapest set by its
penalties. A break costs 20 per bracket around it (200 for <> and []), a few more by what it comes
after, and 15 if it is the first between these brackets; characters beyond the limit cost a million.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

LIMIT = 100
_INDENT = 4
_TOO_LONG = 1_000_000
_CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}


@dataclass
class Bracket:
    opening: int
    kind: str
    closing: int
    commas: list[int] = field(default_factory=list)

    @property
    def cost(self) -> int:
        return 20 if self.kind in "({" else 200


def brackets(line: str) -> list[Bracket]:
    """The brackets of a line by opening position; unclosed ones end with the line."""
    found: list[Bracket] = []
    stack: list[Bracket] = []
    quote = ""
    for i, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[i - 1] != "\\" else quote
        elif char == '"':
            quote = char
        elif char in "([{" or (char == "<" and line[i - 1].isalnum()):
            stack.append(Bracket(i, char, len(line)))
            found.append(stack[-1])
        elif stack and char == _CLOSING[stack[-1].kind]:
            stack.pop().closing = i
        elif char == "," and stack:
            stack[-1].commas.append(i)
    return found


@dataclass(frozen=True)
class _Piece:
    """Text without a break position. Each piece but the first has one before it."""

    text: str
    gap: str  # what parts it from the piece before on the same line
    cost: int  # of a break before it, less that of the brackets around it
    first: bool  # after an opening bracket
    one_of_many: bool  # of three and more: broken inside only if it begins its line
    closed: int  # brackets that earlier pieces opened
    opened: tuple[tuple[int, int], ...]  # column behind the bracket, cost; of those left open


class _Level(NamedTuple):
    """Between two brackets."""

    cost: int
    indent: int  # of the next line
    start: int  # where the argument begins that is being written
    broken: bool = False
    parted: bool = False  # an argument was broken inside: the next one begins a line
    tied: bool = False  # no breaks
    argument_tied: bool = False


class _State(NamedTuple):
    done: int
    column: int
    levels: tuple[_Level, ...]
    broken_at: tuple[tuple[int, int], ...] = ()  # (piece, indent)

    def where(self) -> tuple[int, int, tuple[_Level, ...]]:
        """The state on which the rest depends."""
        return self.done, self.column, self.levels


def break_line(line: str, declares: bool = False) -> tuple[str, ...]:
    """`declares`: a function's declaration; a break after its opening bracket costs more."""
    indent = len(line) - len(line.lstrip())
    pieces = _pieces(line, declares)
    first = _put(_State(0, indent, (_Level(20, indent + _INDENT, indent),)), pieces[0])
    order = count()
    queue = [(0, next(order), first)]
    seen: set[tuple] = set()
    while queue:
        cost, _, state = heapq.heappop(queue)
        if state.done == len(pieces):
            return tuple(_lines(" " * indent, pieces, dict(state.broken_at)))
        if state.where() in seen:
            continue
        seen.add(state.where())
        for more, following in _moves(state, pieces[state.done]):
            excess = max(0, following.column - LIMIT)
            heapq.heappush(queue, (cost + more + _TOO_LONG * excess, next(order), following))
    raise AssertionError("a queue with a state has an end")


def _pieces(line: str, declares: bool) -> list[_Piece]:
    found = brackets(line)
    cuts: dict[int, tuple[int, bool, bool]] = {}  # column: cost, first, one_of_many
    depth_0 = [i for i in range(len(line)) if not any(b.opening < i < b.closing for b in found)]
    for bracket in found:
        start, end = bracket.opening + 1, min(bracket.closing, len(line))
        if bracket.kind != "[" and start < end and not line[:start].lstrip().startswith("if ("):
            head = declares and bracket.opening in depth_0
            # clang-format's 1 for several arguments; 2 settles ties as it does, for aligned ones.
            rather_not = head or bracket.kind == "<"
            cuts[start] = (100 if rather_not else 2 if bracket.commas else 19, True, False)
        for comma in bracket.commas:
            cuts[comma + 1] = (1, False, len(bracket.commas) > 1)
    equals = line.find(" = ")
    if equals in depth_0:
        cuts[equals + 2] = (160 if line[equals + 3] == "{" else 2, False, False)
    starts = [len(line) - len(line.lstrip()), *sorted(cuts)]
    pieces = []
    for start, end in zip(starts, [*starts[1:], len(line)]):
        text = line[start:end].strip()
        if not text:
            continue
        offset = line.index(text, start)
        closed = sum(b.opening < start <= b.closing < end for b in found)
        opened = tuple((b.opening + 1 - offset, b.cost) for b in found
                       if start <= b.opening < end <= b.closing)
        pieces.append(_Piece(text, line[start:offset], *cuts.get(start, (0, False, False)),
                             closed, opened))
    return pieces


def _moves(state: _State, piece: _Piece) -> Iterator[tuple[int, _State]]:
    """Returns the costs of the piece on the same line and on the next."""
    *outer, level = state.levels
    column = state.column + len(piece.gap)
    if not level.parted:
        if piece.first:
            here = level._replace(indent=column)
        else:
            here = level._replace(start=column if level.cost > 20 else level.start,
                                  argument_tied=piece.one_of_many)
        yield 0, _put(state._replace(column=column, levels=(*outer, here)), piece)
    if not level.tied:
        column = level.indent
        here = level._replace(start=column, broken=True, parted=False, argument_tied=False)
        outer = [around._replace(parted=True) for around in outer]
        cost = level.cost + piece.cost + (0 if level.broken else 15)
        yield cost, _put(state._replace(column=column, levels=(*outer, here),
                                        broken_at=(*state.broken_at, (state.done, column))), piece)


def _put(state: _State, piece: _Piece) -> _State:
    levels = list(state.levels[:len(state.levels) - piece.closed])
    for offset, cost in piece.opened:
        around = levels[-1]
        behind = state.column + offset
        indent = around.start + _INDENT if offset == len(piece.text) else behind
        levels.append(_Level(around.cost + cost, indent, around.start,
                             tied=around.tied or around.argument_tied))
    return state._replace(done=state.done + 1, column=state.column + len(piece.text),
                          levels=tuple(levels))


def _lines(text: str, pieces: list[_Piece], broken_at: dict[int, int]) -> Iterator[str]:
    for i, piece in enumerate(pieces):
        if i in broken_at:
            yield text
            text = " " * broken_at[i]
        else:
            text += piece.gap
        text += piece.text
    yield text
