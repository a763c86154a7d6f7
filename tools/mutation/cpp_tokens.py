"""C++ text as tokens: what is code, what only looks like it, and which bracket closes which.

Angle brackets and binary operators are distinguished by the white space of clang-format:
`a < b` compares, `vector<int>` does not.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL)
_DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL)
_OPENING = {"(": ")", "[": "]", "{": "}"}
# What may stand before the brace of a block within a function.
_BEFORE_BLOCK = {")", "else", "do", "try", ";", "{", "}", "mutable", "noexcept", "const", "]"}


class Token(NamedTuple):
    kind: str  # name, number, string, char, sign
    text: str
    begin: int
    end: int
    spaced: bool  # white space or a comment before it


@dataclass
class Source:
    """Tokens with, for each: the position of its partner if it is a bracket, and whether it is code,
    that is, within the body of a function."""

    tokens: list[Token]
    partner: dict[int, int] = field(default_factory=dict)
    code: list[bool] = field(default_factory=list)
    blocks: set[int] = field(default_factory=set)  # the { of blocks of statements

    def is_binary(self, at: int) -> bool:
        """White space on both sides: a binary operator."""
        return self.tokens[at].spaced and at + 1 < len(self.tokens) and self.tokens[at + 1].spaced

    def text(self, at: int) -> str:
        """The text of a token, empty outside."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""


def tokenize(text: str) -> list[Token]:
    """Without comments, white space and preprocessor lines."""
    tokens = []
    at, spaced, line_start = 0, True, True
    while at < len(text):
        directive = _DIRECTIVE.match(text, at) if line_start else None
        if directive:
            at, spaced = directive.end(), True
            continue
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match.lastgroup != "mark" else "raw"
        if match.group("raw") is not None:
            kind = "raw"
        if kind in ("space", "comment"):
            spaced = True
            line_start = "\n" in match.group() if kind == "space" else line_start
        else:
            tokens.append(Token("string" if kind == "raw" else kind, match.group(), at, match.end(),
                                spaced))
            spaced = line_start = False
        at = match.end()
    return tokens


def _angle_end(tokens: list[Token], at: int) -> int:
    """The > that closes the < of a template's arguments at `at`, or -1."""
    depth = 0
    for i in range(at, min(at + 400, len(tokens))):
        text = tokens[i].text
        if text == "<" and not (tokens[i].spaced and tokens[i + 1:i + 2] and tokens[i + 1].spaced):
            depth += 1
        elif text in (">", ">>") and not (tokens[i].spaced and tokens[i - 1].text != ","):
            depth -= len(text)
            if depth <= 0:
                return i
        elif text == ";":
            return -1
    return -1


def _match_brackets(source: Source) -> None:
    stack = []
    for i, token in enumerate(source.tokens):
        if token.kind != "sign":
            continue
        if token.text in _OPENING:
            stack.append(i)
        elif stack and token.text == _OPENING[source.tokens[stack[-1]].text]:
            source.partner[i] = stack[-1]
            source.partner[stack.pop()] = i


def _match_angles(source: Source) -> None:
    for i, token in enumerate(source.tokens):
        if token.text == "<" and i not in source.partner and not source.is_binary(i):
            before = source.tokens[i - 1] if i else None
            if before and before.kind == "name":
                end = _angle_end(source.tokens, i)
                if end >= 0:
                    source.partner[i] = end


def _head(source: Source, brace: int) -> list[str]:
    """The words between the last statement or brace and this one, without the contents of brackets."""
    words = []
    i = brace - 1
    while i >= 0 and source.text(i) not in (";", "{"):
        if source.text(i) == "}" and i in source.partner:
            # An initializer within the head, or the end of what stands before it.
            if source.partner[i] in source.blocks or source.tokens[source.partner[i]].spaced:
                break
        words.append(source.text(i))
        if source.text(i) in (")", "]", "}") and i in source.partner:
            i = source.partner[i]
            words.append(source.text(i))
        i -= 1
    return words[::-1]


def _scope_of(source: Source, brace: int, outer: str, enclosing: str) -> str:
    """What a { opens: namespace, class, code or init. `outer` is the enclosing scope,
    `enclosing` the innermost bracket."""
    before = source.text(brace - 1)
    spaced = source.tokens[brace].spaced
    head = _head(source, brace)
    if "namespace" in head or head[:1] == ["extern"] and source.kind(brace - 1) == "string":
        return "namespace"
    words = [w for w in head if w not in ("template", "<", ">")]
    is_type = any(w in ("class", "struct", "union", "enum") for w in words) and spaced
    if is_type and "(" not in head and "=" not in head and before not in ("(", ","):
        return "class"
    if outer == "code":
        if spaced and (before in _BEFORE_BLOCK or before == ":" and enclosing == "{"):
            return "init" if before == "{" and brace - 1 not in source.blocks else "code"
        returns = "->" in head and before not in ("=", ",", "(", "return")
        return "code" if spaced and returns else "init"
    if spaced and "(" in head and before not in ("=", ",", "(", "return", "{", "["):
        return "code"
    return "code" if spaced and before == "]" and outer != "class" else "init"


def _find_scopes(source: Source) -> None:
    """Marks the tokens that are code: bodies of functions, without the types defined in them."""
    stack: list[tuple[str, str]] = [("", "namespace")]  # bracket, scope
    for i, token in enumerate(source.tokens):
        scope = stack[-1][1]
        if token.kind == "sign" and token.text in _OPENING and i in source.partner:
            if token.text == "{":
                opened = _scope_of(source, i, scope, stack[-1][0])
                if opened == "code":
                    source.blocks.add(i)
                opened = scope if opened == "init" else opened
            else:
                opened = scope
            stack.append((token.text, opened))
        elif token.kind == "sign" and token.text in _OPENING.values() and i in source.partner:
            stack.pop()
        source.code.append(scope == "code")


def read(text: str) -> Source:
    source = Source(tokenize(text))
    _match_brackets(source)
    _match_angles(source)
    _find_scopes(source)
    return source
