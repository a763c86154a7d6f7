"""Small bugs in Python: edits at the positions that `ast` reports, never of declarations, docstrings,
annotations or what is raised, asserted or printed."""

import ast
import re
from typing import Iterator, Optional

from mutation.mutant import Edit

_COMPARISONS = {
    ast.Lt: ("<", ("<=", ">=")), ast.Gt: (">", (">=", "<=")), ast.LtE: ("<=", ("<",)),
    ast.GtE: (">=", (">",)), ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)), ast.IsNot: (r"is\s+not", ("is",)), ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",))}
_ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"),
               ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"),
               ast.BitOr: ("|", "&"), ast.BitAnd: ("&", "|")}
_EXCHANGED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
_COMMUTE = {"min", "max", "isinstance", "print", "zip"}
_LOOKUPS = {"get", "pop", "setdefault"}
_WITHOUT_EFFECT = {"print", "add_argument", "warn", "flush"}
_TEXTS = (ast.Raise, ast.Assert)


def edits(text: str) -> Iterator[Edit]:
    """Every mutation of a Python file."""
    return _Finder(text).find()


class _Finder:
    def __init__(self, text: str):
        self._text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> Iterator[Edit]:
        yield from self._visit(ast.parse(self._text), in_function=False)

    def _visit(self, node: ast.AST, in_function: bool) -> Iterator[Edit]:
        if isinstance(node, _TEXTS) or _calls(node) in _WITHOUT_EFFECT:
            return
        if in_function:
            yield from self._at(node)
        children = node.body if _is_function(node) else _children(node)
        for child in children:
            yield from self._visit(child, in_function or _is_function(node))

    def _at(self, node: ast.AST) -> Iterator[Edit]:
        method = getattr(self, f"_at_{type(node).__name__.lower()}", None)
        if method:
            yield from method(node)

    # Places.

    def _offset(self, line: int, column: int) -> int:
        """Where a line counted from 1 and a column in bytes are in the text."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return (self._offset(node.lineno, node.col_offset),
                self._offset(node.end_lineno, node.end_col_offset))

    def _source(self, node: ast.AST) -> str:
        begin, end = self._span(node)
        return self._text[begin:end]

    def _between(self, left: ast.AST, right: ast.AST, pattern: str) -> Optional[tuple[int, int]]:
        """The position of an operator between two operands."""
        begin, end = self._span(left)[1], self._span(right)[0]
        found = re.search(pattern, self._text[begin:end])
        return (begin + found.start(), begin + found.end()) if found else None

    def _replace(self, kind: str, node: ast.AST, text: str) -> Edit:
        begin, end = self._span(node)
        return Edit(kind, begin, end, text)

    # Expressions.

    def _at_compare(self, node: ast.Compare) -> Iterator[Edit]:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:]):
            pattern, others = _COMPARISONS[type(operator)]
            place = self._between(left, right, pattern)
            for other in others if place else ():
                yield Edit("comparison", *place, other)

    def _at_boolop(self, node: ast.BoolOp) -> Iterator[Edit]:
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            place = self._between(left, right, rf"\b{word}\b")
            if place:
                yield Edit("logic", *place, other)

    def _at_unaryop(self, node: ast.UnaryOp) -> Iterator[Edit]:
        if isinstance(node.op, ast.Not):
            yield self._replace("logic", node, f"({self._source(node.operand)})")

    def _at_binop(self, node: ast.BinOp) -> Iterator[Edit]:
        sides = (node.left, node.right)
        texts = any(_is_text(side) for side in sides)
        path = isinstance(node.op, ast.Div) and not any(_is_number(side) for side in sides)
        if type(node.op) in _ARITHMETIC and not texts and not path:
            sign, other = _ARITHMETIC[type(node.op)]
            place = self._between(node.left, node.right, re.escape(sign))
            if place:
                yield Edit("arithmetic", *place, other)

    def _at_constant(self, node: ast.Constant) -> Iterator[Edit]:
        if isinstance(node.value, bool):
            yield self._replace("condition", node, str(not node.value))
        elif isinstance(node.value, int):
            yield self._replace("one-more", node, str(node.value + 1))
            if node.value > 0:
                yield self._replace("one-more", node, str(node.value - 1))

    def _at_call(self, node: ast.Call) -> Iterator[Edit]:
        if isinstance(node.func, ast.Name) and node.func.id in _EXCHANGED and (
                node.func.id != "sorted" or not node.keywords):
            yield self._replace("min-max", node.func, _EXCHANGED[node.func.id])
        if _name_of(node.func) in _LOOKUPS and node.args and _is_text(node.args[0]):
            yield self._renamed_key(node.args[0])
        if _name_of(node.func) in _COMMUTE:
            return
        for left, right in zip(node.args, node.args[1:]):
            a, b = self._source(left), self._source(right)
            plain = not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred)
            if plain and a != b and "\n" not in a + b and not (_is_text(left) or _is_text(right)):
                (begin, middle), (second, end) = self._span(left), self._span(right)
                yield Edit("arguments", begin, end, b + self._text[middle:second] + a)

    def _at_subscript(self, node: ast.Subscript) -> Iterator[Edit]:
        if isinstance(node.ctx, ast.Load) and _is_text(node.slice):
            yield self._renamed_key(node.slice)

    def _renamed_key(self, node: ast.Constant) -> Edit:
        begin = self._span(node)[0]
        return Edit("key", begin, begin + 1, self._text[begin] + "~")

    def _at_ifexp(self, node: ast.IfExp) -> Iterator[Edit]:
        yield from self._constant(node.test, ("True", "False"))

    # Statements.

    def _constant(self, test: ast.expr, values: tuple[str, ...]) -> Iterator[Edit]:
        begin, end = self._span(test)
        for value in values:
            yield Edit("condition", begin, end, self._same_lines(value, begin, end))

    def _same_lines(self, text: str, begin: int, end: int) -> str:
        """Continued over as many lines as it replaces."""
        return text + " \\\n" * self._text.count("\n", begin, end) if "\n" in self._text[
            begin:end] else text

    def _left_out(self, kind: str, node: ast.stmt) -> Edit:
        begin, end = self._span(node)
        return Edit(kind, begin, end, "pass" + "\n" * self._text.count("\n", begin, end))

    def _at_if(self, node: ast.If) -> Iterator[Edit]:
        leaves = len(node.body) == 1 and isinstance(
            node.body[0], (ast.Return, ast.Continue, ast.Break, ast.Raise)) and not node.orelse
        if leaves and self._text[self._span(node)[0]:].startswith("if"):
            yield self._left_out("guard", node)
        yield from self._constant(node.test, ("True",) if leaves else ("True", "False"))

    def _at_while(self, node: ast.While) -> Iterator[Edit]:
        yield from self._constant(node.test, ("False",))

    def _at_expr(self, node: ast.Expr) -> Iterator[Edit]:
        if isinstance(node.value, ast.Call):
            yield self._left_out("statement", node)

    def _at_assign(self, node: ast.Assign) -> Iterator[Edit]:
        if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            yield self._left_out("statement", node)

    def _at_augassign(self, node: ast.AugAssign) -> Iterator[Edit]:
        yield self._left_out("statement", node)
        if type(node.op) in _ARITHMETIC and not _is_text(node.value):
            sign, other = _ARITHMETIC[type(node.op)]
            place = self._between(node.target, node.value, re.escape(sign) + "=")
            if place:
                yield Edit("arithmetic", *place, other + "=")


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Without annotations, and without the pieces of an f-string, whose places are not those of the
    file before Python 3.12."""
    if isinstance(node, ast.AnnAssign):
        return iter([node.value] if node.value else [])
    if isinstance(node, ast.JoinedStr):
        return iter(())
    return ast.iter_child_nodes(node)


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _calls(node: ast.AST) -> str:
    """The name of the function that an expression statement calls."""
    call = node.value if isinstance(node, ast.Expr) else None
    return _name_of(call.func) if isinstance(call, ast.Call) else ""


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(
        node.value, str)
