"""Statements of C++ function bodies: where they begin and end, which can be left out, and which
tokens belong to texts for people (errors, logs) or to compile-time facts and are skipped."""

from typing import Iterator, Optional

from mutation.cpp_tokens import Source
from mutation.mutant import Edit

_STATEMENT_WORDS = {
    "return", "if", "for", "while", "do", "switch", "case", "default", "break", "continue", "throw",
    "goto", "using", "typedef", "static", "const", "constexpr", "auto", "struct", "class", "enum",
    "union", "template", "else", "try", "catch", "co_return", "static_assert", "delete",
    "thread_local", "namespace", "extern", "unsigned", "signed", "int", "float", "double", "bool",
    "char", "void"}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
_LEAVING = {"return", "continue", "break", "throw"}
# Calls that change how fast something is, or what a person reads, and not what is computed.
_WITHOUT_EFFECT = {"reserve", "shrink_to_fit", "madvise", "yield", "LOG", "VLOG", "DLOG", "assert",
                   "static_cast", "prefetch", "flush"}


class Statements:
    def __init__(self, source: Source):
        self._source = source
        self.skipped = [False] * len(source.tokens)
        for at in range(len(source.tokens)):
            self._skip_at(at)
        self._spans = list(self._find())

    # What is not mutated.

    def _skip(self, first: int, last: int) -> None:
        for i in range(first, min(last + 1, len(self.skipped))):
            self.skipped[i] = True

    def _skip_at(self, at: int) -> None:
        source, text = self._source, self._source.text(at)
        call = source.partner.get(at + 1, -1) if source.text(at + 1) == "(" else -1
        if text == "throw" or text in ("LOG", "VLOG", "DLOG") or text == "using":
            self._skip(at, self.end_of(at))
        elif text == "errors" and source.text(at + 1) == "::" and source.text(at + 3) == "(":
            self._skip(at, source.partner.get(at + 3, at + 3))
        elif text in ("static_assert", "sizeof", "alignas", "decltype", "noexcept", "assert") \
                and call >= 0:
            self._skip(at, call)
        elif text == "<" and at in source.partner:
            self._skip(at, source.partner[at])
        elif text == "[" and source.text(at + 1) == "[" and at in source.partner:
            self._skip(at, source.partner[at])
        elif text in ("wrong", "note") and call >= 0 and source.text(at - 1) in (".", "->"):
            self._skip(at + 1, call)
        elif text == "constexpr" and source.text(at - 1) == "if" and call >= 0:
            self._skip(at, call)

    # Where statements are.

    def end_of(self, at: int) -> int:
        """The ; that ends the statement whose token `at` is, or the last token."""
        source = self._source
        i = at
        while i < len(source.tokens) and source.text(i) != ";":
            if source.text(i) in (")", "}", "]"):
                return i - 1
            i = source.partner[i] + 1 if source.partner.get(i, -1) > i else i + 1
        return i

    def _starts(self) -> Iterator[int]:
        """First tokens of statements, of blocks and of controlled ones."""
        source = self._source
        for at in range(1, len(source.tokens)):
            if not source.code[at] or source.text(at) in ("{", "}", ")", ";"):
                continue
            before = source.text(at - 1)
            if before == "{" and at - 1 in source.blocks or before == "else":
                yield at
            elif before in (";", "}") and self._in_block(at):
                yield at
            elif before == ")" and source.text(source.partner.get(at - 1, 0) - 1) in (
                    "if", "for", "while", "constexpr"):
                yield at
            elif before == ":" and self._after_label(at - 1):
                yield at

    def _in_block(self, at: int) -> bool:
        """Not within the head of a for, nor after an initializer."""
        source = self._source
        before = at - 1
        if source.text(before) == "}":
            return source.partner.get(before) in source.blocks
        i = before
        while i >= 0:
            if source.partner.get(i, -1) > before:
                return source.text(i) == "{"
            i = source.partner[i] - 1 if source.partner.get(i, i) < i else i - 1
        return True

    def _after_label(self, colon: int) -> bool:
        source, i = self._source, colon - 1
        while source.kind(i) in ("name", "number", "char") or source.text(i) == "::":
            if source.text(i) in ("case", "default"):
                return True
            i -= 1
        return False

    def _find(self) -> Iterator[tuple[int, int]]:
        """First and last token of statements that compute."""
        for at in self._starts():
            if self._is_expression(at):
                end = self.end_of(at)
                if self._source.text(end) == ";":
                    yield at, end

    def _is_expression(self, at: int) -> bool:
        """A call, an assignment or a counting, not a declaration."""
        source = self._source
        first, i = source.text(at), at
        if first in _STATEMENT_WORDS:
            return False
        while source.text(i) in ("*", "++", "--"):
            i += 1
        i = self._after_operand(i)
        if i < 0:
            return False
        text = source.text(i)
        return text in _ASSIGNING or text in ("++", "--") or (
            text == ";" and (source.text(i - 1) == ")" or first in ("++", "--")))

    def _after_operand(self, at: int) -> int:
        """The token after a chain of names, calls and subscripts; -1 if there is none."""
        source, i = self._source, at
        while source.text(i) == "::":
            i += 1
        if source.text(i) == "(":
            i = source.partner.get(i, len(source.tokens)) + 1
        elif source.kind(i) == "name":
            i += 1
        else:
            return -1
        while i < len(source.tokens):
            text = source.text(i)
            if text in (".", "->", "::"):
                i += 2 if source.text(i + 1) != "template" else 3
            elif text in ("(", "[", "<") and i in source.partner and not source.is_binary(i):
                i = source.partner[i] + 1
            else:
                return i
        return -1

    def expression_around(self, at: int) -> Optional[tuple[int, int]]:
        """Begin and end in the text of the statement that computes and contains this token."""
        for first, last in self._spans:
            if first <= at <= last:
                return self._source.tokens[first].begin, self._source.tokens[last].end
        return None

    # What can be done to them.

    def left_out(self, text: str) -> Iterator[Edit]:
        source = self._source
        for first, last in self._spans:
            names = {source.text(i) for i in range(first, last) if source.text(i + 1) in ("(", "<")}
            discards = source.text(first) == "(" and source.text(first + 1) == "void"
            if self.skipped[first] or discards or names & _WITHOUT_EFFECT:
                continue
            if any(i in source.blocks for i in range(first, last)):
                continue
            yield self._replaced("statement", first, last, text)
        for at in self._guards():
            yield self._replaced("guard", at, self._end_of_branch(at), text)

    def _replaced(self, kind: str, first: int, last: int, text: str) -> Edit:
        """An empty block that keeps the lines."""
        begin, end = self._source.tokens[first].begin, self._source.tokens[last].end
        return Edit(kind, begin, end, "{" + "\n" * text.count("\n", begin, end) + "}")

    def _end_of_branch(self, at: int) -> int:
        """The last token of what the if at `at` controls; -1 if there is an else."""
        source = self._source
        body = source.partner[at + 1] + 1
        end = source.partner[body] if source.text(body) == "{" else self.end_of(body)
        return -1 if source.text(end + 1) == "else" else end

    def _guards(self) -> Iterator[int]:
        """Ifs that only leave the function or loop, and have no else."""
        source = self._source
        for at in self._ifs():
            body = source.partner[at + 1] + 1
            first = body + 1 if source.text(body) == "{" else body
            end = self._end_of_branch(at)
            if source.text(first) in _LEAVING and source.text(at - 1) != "else" and end >= 0:
                last = self.end_of(first)
                if last == (end - 1 if source.text(body) == "{" else end):
                    yield at

    def _ifs(self) -> Iterator[int]:
        source = self._source
        for at, token in enumerate(source.tokens):
            if token.text == "if" and source.code[at] and source.text(at + 1) == "(" \
                    and at + 1 in source.partner:
                yield at

    def conditions(self, text: str) -> Iterator[Edit]:
        """Conditions made constant. That a guard's is false is that it is left out."""
        guards = set(self._guards())
        for at in self._ifs():
            yield from self._constant(at, text, ("true",) if at in guards else ("true", "false"))
        for at, token in enumerate(self._source.tokens):
            if token.text == "while" and self._source.code[at] and at + 1 in self._source.partner:
                yield from self._constant(at, text, ("false",))

    def _constant(self, at: int, text: str, values: tuple[str, ...]) -> Iterator[Edit]:
        source = self._source
        first, last = at + 2, source.partner[at + 1] - 1
        semicolons = [i for i in range(first, last) if source.text(i) == ";"]
        first = semicolons[-1] + 1 if semicolons else first
        if first > last or any(source.text(i) == "=" for i in range(first, last)):
            return  # a declaration
        begin, end = source.tokens[first].begin, source.tokens[last].end
        for value in values:
            yield Edit("condition", begin, end, value + "\n" * text.count("\n", begin, end))
