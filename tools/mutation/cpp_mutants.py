"""Small bugs in C++: edits of the code in function bodies, never of declarations or of the text of
errors and logs."""

from typing import Iterator

from mutation import cpp_tokens
from mutation.cpp_statements import Statements
from mutation.cpp_tokens import Source
from mutation.mutant import Edit

# Without these a mutant that uses less than the code did would not compile under -Werror. They are
# put before the first line, whose number stays.
_WARNINGS = ("unused-variable unused-but-set-variable unused-parameter unused-but-set-parameter "
             "unused-function unused-value unused-local-typedefs unused-lambda-capture type-limits "
             "sign-compare parentheses bool-compare bool-operation int-in-bool-context empty-body "
             "div-by-zero array-bounds stringop-overflow uninitialized "
             "aggressive-loop-optimizations tautological-compare nonnull logical-op pragmas")
PREFIX = "".join(f'#pragma GCC diagnostic ignored "-W{name}"\n'
                 for name in sorted(_WARNINGS.split(), key="pragmas".__ne__)) + "#line 1\n"

_COMPARISONS = {"<": ("<=", ">="), ">": (">=", "<="), "<=": ("<",), ">=": (">",), "==": ("!=",),
                "!=": ("==",)}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&"}
_ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="}
_COUNTING = {"++": "--", "--": "++"}
_EXCHANGED = {"min": "max", "max": "min", "min_element": "max_element",
              "max_element": "min_element", "any_of": "all_of", "all_of": "any_of",
              "lower_bound": "upper_bound", "upper_bound": "lower_bound"}
_ORDERS = ("memory_order_acquire", "memory_order_release", "memory_order_acq_rel",
           "memory_order_seq_cst")
_NOT_CALLS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignof",
              "noexcept", "static_assert", "operator", "constexpr", "throw", "co_return",
              "requires"}
# Swapping their arguments changes nothing, or nothing but a text.
_COMMUTE = {"min", "max", "swap", "gcd", "lcm", "hypot", "add", "mul", "multiply", "maximum",
            "minimum", "equal"}
_LOOKUPS = {"at", "contains", "find", "count", "value", "child", "get", "has", "read", "key"}


def edits(text: str) -> Iterator[Edit]:
    """Every mutation of a C++ file."""
    source = cpp_tokens.read(text)
    statements = Statements(source)
    keyed = set()
    for edit in _key_edits(source, statements):
        keyed.add((edit.begin, edit.end))
        yield edit
    for edit in statements.left_out(text):
        if (edit.begin, edit.end) not in keyed:
            yield edit
    yield from statements.conditions(text)
    for at in range(len(source.tokens)):
        if source.code[at] and not statements.skipped[at]:
            yield from _at_token(source, at)
            yield from _swapped_arguments(source, statements, text, at)


def _edit(source: Source, at: int, kind: str, text: str) -> Edit:
    token = source.tokens[at]
    return Edit(kind, token.begin, token.end, text)


def _at_token(source: Source, at: int) -> Iterator[Edit]:
    token = source.tokens[at]
    if token.kind == "sign":
        yield from _at_sign(source, at)
    elif token.kind == "number":
        yield from _at_number(source, at)
    elif token.kind == "name":
        if token.text in _EXCHANGED and source.text(at + 1) in ("(", "<") \
                and source.text(at - 1) in ("::", ".", "->"):
            yield _edit(source, at, "min-max", _EXCHANGED[token.text])
        if token.text in _ORDERS:
            yield _edit(source, at, "memory-order", "memory_order_relaxed")


def _at_sign(source: Source, at: int) -> Iterator[Edit]:
    text = source.text(at)
    if source.text(at - 1) == "operator":
        return
    if source.is_binary(at):
        for other in _COMPARISONS.get(text, ()):
            yield _edit(source, at, "comparison", other)
        if text in _ARITHMETIC and _joins_values(source, at):
            yield _edit(source, at, "arithmetic", _ARITHMETIC[text])
        if text in _ASSIGNMENTS and source.kind(at + 1) not in ("string", "char"):
            yield _edit(source, at, "arithmetic", _ASSIGNMENTS[text])
        if text in ("&&", "||"):
            yield _edit(source, at, "logic", "||" if text == "&&" else "&&")
    elif text == "!" and source.text(at - 1) != "#":
        yield _edit(source, at, "logic", "")
    elif text in _COUNTING and not _in_loop_head(source, at):
        yield _edit(source, at, "arithmetic", _COUNTING[text])


def _joins_values(source: Source, at: int) -> bool:
    """Excludes string concatenation, which has no minus."""
    return not {source.kind(at - 1), source.kind(at + 1)} & {"string", "char"}


def _in_loop_head(source: Source, at: int) -> bool:
    """A for loop that counts backwards never ends, so the mutant is slow and useless."""
    i = at
    while i >= 0 and source.text(i) not in ("{", "}"):
        if source.text(i) == "(" and source.partner.get(i, -1) > at:
            return source.text(i - 1) == "for"
        i -= 1
    return False


def _at_number(source: Source, at: int) -> Iterator[Edit]:
    digits = source.text(at).replace("'", "")
    number = digits.rstrip("uUlLzZ")
    if not number.isdecimal() or (number != "0" and number[0] == "0"):
        return
    suffix = digits[len(number):]
    if source.text(at - 1) == "case" or _is_extent(source, at):
        return
    yield _edit(source, at, "one-more", f"{int(number) + 1}{suffix}")
    if number != "0":
        yield _edit(source, at, "one-more", f"{int(number) - 1}{suffix}")


def _is_extent(source: Source, at: int) -> bool:
    """The 3 of `float x[3]`: an extent in a declaration, not an index."""
    if source.text(at - 1) != "[" or source.kind(at - 2) != "name":
        return False
    before = source.tokens[at - 3]
    return before.kind == "name" and before.text != "return" or before.text in (">", "*")


def arguments(source: Source, opening: int) -> list[tuple[int, int]]:
    """First and last token of each argument between the bracket at `opening` and its partner."""
    found, first, at = [], opening + 1, opening + 1
    end = source.partner[opening]
    while at < end:
        if source.text(at) == ",":
            found.append((first, at - 1))
            first = at + 1
        at = source.partner[at] + 1 if source.partner.get(at, -1) > at else at + 1
    if first < end:
        found.append((first, end - 1))
    return found


def _is_call(source: Source, at: int) -> bool:
    """A ( that opens the arguments of a call of a function that is no macro."""
    if source.text(at) != "(" or at not in source.partner:
        return False
    name = at - 1
    if source.text(name) in (">", ">>"):
        name = next((i - 1 for i in range(name, -1, -1) if source.partner.get(i) == name), -1)
    if source.kind(name) != "name" or source.text(name) in _NOT_CALLS | _COMMUTE:
        return False
    return not (source.text(name).isupper() or source.text(name).startswith("PHI_"))


def _swapped_arguments(source: Source, statements: Statements, text: str,
                       at: int) -> Iterator[Edit]:
    if not _is_call(source, at):
        return
    given = arguments(source, at)
    for (a, b), (c, d) in zip(given, given[1:]):
        inner = range(a, d + 1)
        if any(i in source.blocks or statements.skipped[i] for i in inner) or b < a:
            continue
        left = text[source.tokens[a].begin:source.tokens[b].end]
        right = text[source.tokens[c].begin:source.tokens[d].end]
        if left == right or "\n" in left + right or {source.kind(a), source.kind(c)} & {"string"}:
            continue
        between = text[source.tokens[b].end:source.tokens[c].begin]
        yield Edit("arguments", source.tokens[a].begin, source.tokens[d].end,
                   right + between + left)


def _key_edits(source: Source, statements: Statements) -> Iterator[Edit]:
    """A reading statement left out; a key looked up under another name."""
    for at, token in enumerate(source.tokens):
        if token.kind != "string" or not source.code[at] or statements.skipped[at]:
            continue
        if source.text(at - 1) not in ("[", "(") or not token.text.startswith('"'):
            continue
        if source.text(at - 1) == "[" and source.text(at + 1) == "]":
            yield _edit(source, at, "key", '"~' + token.text[1:])
        elif source.text(at - 1) == "(" and _is_lookup(source, at - 2):
            whole = statements.expression_around(at)
            if whole and source.text(at - 2).startswith("read"):
                yield Edit("key", *whole, "{}")
            else:
                yield _edit(source, at, "key", '"~' + token.text[1:])


def _is_lookup(source: Source, name: int) -> bool:
    if source.text(name) in (">", ">>"):
        name = next((i - 1 for i in range(name, -1, -1) if source.partner.get(i) == name), -1)
    word = source.text(name)
    member = source.text(name - 1) in (".", "->")
    return member and (word in _LOOKUPS or word.startswith(("read_", "get_")))
