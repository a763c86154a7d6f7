"""The small grammars inside the values: arguments, outputs, aliases, kernels, key sources.

Each function takes text and raises Bad(what is wrong, what is accepted); parse.py adds the place.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from api_gen.errors import listing, nearest
from api_gen.model import (Alias, Attr, AttrType, Factor, KernelAlternative, Propagation, Notation, Output, Partial,
                           TensorArg, Term)

IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
TENSOR_KINDS = ("dense", "selected_rows", "sparse_coo", "sparse_csr")
DATA_TYPES = ("UNDEFINED", "BOOL", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64",
              "INT64", "FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128",
              "FLOAT8_E4M3FN", "FLOAT8_E5M2", "ALL_DTYPE")
_SYNONYMS = {"int32_t": AttrType.INT, "long": AttrType.INT64}
_SCALAR = re.compile(r"Scalar\((double|float|int|int64_t)\)\Z")
# Words that C++ keeps for itself and that could be taken for argument names.
_KEYWORDS = frozenset(
    "alignas alignof and asm auto bool break case catch char class concept const continue default "
    "delete do double else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new not operator or private protected public register requires return "
    "short signed sizeof static struct switch template this throw true try typedef typeid typename "
    "union unsigned using virtual void volatile while xor".split())


class Bad(Exception):
    """Faults of a value: for each, what is wrong and what is accepted."""

    def __init__(self, wrong: str, accepted: str, others: Sequence[tuple[str, str]] = ()):
        super().__init__(wrong, accepted)
        self.faults = ((wrong, accepted), *others)


def each(pieces: Iterable[str], reads: Callable[[str], None]) -> None:
    """Parses every piece. Errors: one Bad with the faults of all."""
    faults: list[tuple[str, str]] = []
    for piece in pieces:
        try:
            reads(piece)
        except Bad as bad:
            faults += [fault for fault in bad.faults if fault not in faults]
    if faults:
        raise Bad(*faults[0], faults[1:])


def check_name(name: str, what: str) -> str:
    if not IDENTIFIER.match(name):
        raise Bad(f"'{name}' is not a name for {what}",
                  "letters, digits and '_' are accepted, not a digit first")
    if name in _KEYWORDS:
        raise Bad(f"'{name}' is a C++ keyword", f"any other name for {what} is accepted")
    return name


def split_top(text: str, separator: str = ",") -> list[str]:
    """Pieces between separators outside brackets and quotes, stripped."""
    pieces, depth, quote, piece = [], 0, "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if char == separator and depth == 0 and not quote:
            pieces.append(piece.strip())
            piece = ""
        else:
            piece += char
    return pieces + [piece.strip()]


def names(text: str) -> tuple[str, ...]:
    return tuple(check_name(name, "an argument or output") for name in split_top(text))


@dataclass(frozen=True)
class Arguments:
    tensors: tuple[TensorArg, ...]
    attrs: tuple[Attr, ...]


def arguments(text: str) -> Arguments:
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        raise Bad("the arguments are not in brackets", "'(type name [= default], ...)' is accepted")
    tensors: list[TensorArg] = []
    attrs: list[Attr] = []
    body = text[1:-1].strip()

    def read(piece: str) -> None:
        argument = _argument(piece, len(tensors))
        if any(argument.name == other.name for other in (*tensors, *attrs)):
            raise Bad(f"argument '{argument.name}' occurs twice", "a name may be used once")
        if isinstance(argument, Attr):
            attrs.append(argument)
        elif attrs:
            raise Bad(f"tensor '{argument.name}' comes after attribute '{attrs[-1].name}'",
                      "tensors come first, then attributes")
        else:
            tensors.append(argument)

    each(split_top(body) if body else [], read)
    return Arguments(tuple(tensors), tuple(attrs))


def check_defaults(attrs: tuple[Attr, ...], optional: tuple[str, ...]) -> tuple[Attr, ...]:
    """The attributes, with those in `optional` marked. One may be left out if all after it may be."""
    result: list[Attr] = []
    open_end = True
    for attr in reversed(attrs):
        default = attr.default
        if attr.name in optional:
            default = default or ("std::nullopt" if open_end else None)
            attr = replace(attr, optional=True, default=default)
        elif _may_be_drawn(attr):
            attr = replace(attr, optional=True, default="std::nullopt", is_drawn=True)
        if default is not None and not open_end:
            raise Bad(f"attribute '{result[-1].name}' has no default but comes after "
                      f"'{attr.name}', which has one", "attributes with defaults come last")
        open_end = open_end and default is not None
        result.append(attr)
    return tuple(reversed(result))


def _may_be_drawn(attr: Attr) -> bool:
    """In Paddle's format, `int seed = 0` means that an omitted seed is drawn from the generator."""
    return attr.name == "seed" and attr.type in (AttrType.INT, AttrType.INT64) and attr.default == "0"


def _argument(piece: str, index: int) -> TensorArg | Attr:
    head, equals, default = (part.strip() for part in piece.partition("="))
    words = head.split()
    if len(words) != 2:
        raise Bad(f"'{piece}' is not an argument",
                  "'type name' or 'type name = default' is accepted")
    spelling, name = words[0], check_name(words[1], "an argument")
    if spelling in ("Tensor", "Tensor[]"):
        if equals:
            raise Bad(f"tensor '{name}' has a default",
                      "only attributes have defaults; a tensor may be listed in 'optional'")
        return TensorArg(name, index, is_list=spelling == "Tensor[]")
    scalar = _SCALAR.match(spelling)
    types = {member.value: member for member in AttrType} | _SYNONYMS
    if scalar:
        kind = AttrType.SCALAR
    elif spelling in types:
        kind = types[spelling]
    else:
        known = ("Tensor", "Tensor[]", *types, "Scalar(int)")
        raise Bad(f"unknown type '{spelling}' of '{name}'{nearest(spelling, known)}",
                  f"accepted are {listing(known)}")
    if equals:
        check_default(name, kind, default)
    return Attr(name, kind, default if equals else None, scalar[1] if scalar else None)


_NUMBER = (r"(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlLuU]*|0[xX][0-9a-fA-F]+"
           r"|U?INT(?:8|16|32|64)?_M(?:AX|IN))")
_OPERATOR = r"(?:<<|>>|[-+*/%])"
_NUMERIC = re.compile(rf"\s*(?:[-+~(]\s*)*{_NUMBER}[\s)]*"
                      rf"(?:{_OPERATOR}[\s(]*[-+]?{_NUMBER}[\s)]*)*\Z")
_FLOATING = re.compile(r"\d\.|\.\d|\d[eE]|\d[fF]\b")


def _is_number(text: str, whole: bool) -> bool:
    if text in ("true", "false"):
        return True
    if text.count("(") != text.count(")") or not _NUMERIC.match(text):
        return False
    return not (whole and _FLOATING.search(text))


def _is_list(text: str, whole: bool) -> bool:
    if not (text.startswith("{") and text.endswith("}")):
        return False
    body = text[1:-1].strip()
    return not body or all(_is_number(item, whole) for item in split_top(body))


def _is_text(text: str) -> bool:
    return re.match(r'"(?:[^"\\]|\\.)*"\Z', text) is not None


_DEFAULTS = {
    AttrType.INT: (lambda t: _is_number(t, True), "an integer such as -1, 0L or (2 << 12) - 1"),
    AttrType.BOOL: (lambda t: t in ("true", "false", "0", "1"), "true or false"),
    AttrType.FLOAT: (lambda t: _is_number(t, False), "a number such as 1.0f, .5f, 1e-5 or 1.0f/8"),
    AttrType.STR: (_is_text, 'text in double quotes such as "NCHW"'),
    AttrType.INTS: (lambda t: _is_list(t, True), "a list of integers such as {} or {1, 1}"),
    AttrType.FLOATS: (lambda t: _is_list(t, False), "a list of numbers such as {} or {1.0, 2.0}"),
    AttrType.STRS: (lambda t: t.startswith("{") and t.endswith("}") and
                    (not t[1:-1].strip() or all(map(_is_text, split_top(t[1:-1])))),
                    'a list of strings such as {} or {"a", "b"}'),
    AttrType.DATA_TYPE: (lambda t: t.startswith("DataType::") and t[10:] in DATA_TYPES,
                         "DataType::FLOAT32 or another data type"),
    AttrType.DATA_LAYOUT: (lambda t: re.match(r"DataLayout::\w+\Z", t) is not None,
                           "DataLayout::NCHW or another layout"),
    AttrType.PLACE: (lambda t: re.match(r"(\{\}|(CPU|GPU)Place\(\d*\)|Place\(\))\Z", t) is not None,
                     "{}, CPUPlace() or GPUPlace(0)"),
}
for _same, _as in {
        AttrType.INT64: AttrType.INT, AttrType.SIZE: AttrType.INT,
        AttrType.DOUBLE: AttrType.FLOAT, AttrType.SCALAR: AttrType.FLOAT,
        AttrType.INT64S: AttrType.INTS, AttrType.INT_ARRAY: AttrType.INTS,
        AttrType.DOUBLES: AttrType.FLOATS, AttrType.SCALARS: AttrType.FLOATS,
        AttrType.BOOLS: AttrType.INTS}.items():
    _DEFAULTS[_same] = _DEFAULTS[_as]


def check_default(name: str, kind: AttrType, text: str) -> None:
    fits, accepted = _DEFAULTS[kind]
    if not fits(text):
        raise Bad(f"'{text}' is not a default for {kind.value} '{name}'", f"accepted is {accepted}")


_OUTPUT = re.compile(r"(?P<kind>\S+?)\s*(?:\(\s*(?P<name>[^)]*?)\s*\))?\s*"
                     r"(?:\{(?P<size>[^}]*)\})?\Z")


def outputs(text: str) -> tuple[Output, ...]:
    result: list[Output] = []
    pieces = split_top(text)

    def read(piece: str) -> None:
        match = _OUTPUT.match(piece)
        kind = match["kind"] if match else piece
        if kind not in ("Tensor", "Tensor[]"):
            raise Bad(f"'{piece}' is not an output",
                      "'Tensor', 'Tensor(name)' and 'Tensor[](name){size}' are accepted")
        if match["name"] is None and len(pieces) > 1:
            raise Bad("one of several outputs has no name", "'Tensor(name), ...' is accepted")
        name = check_name((match["name"] or "out").replace("@", ""), "an output")
        if any(name == other.name for other in result):
            raise Bad(f"output '{name}' occurs twice", "a name may be used once")
        size = match["size"].strip() if match["size"] is not None else None
        if kind == "Tensor" and size is not None:
            raise Bad(f"output '{name}' is one tensor but has a size", "only Tensor[] has a size")
        result.append(Output(name, kind == "Tensor[]", size))

    each(pieces, read)
    return tuple(result)


def size_names(expression: str) -> list[str]:
    """The argument names that a size expression uses. Errors: members other than size, dims."""
    for member in re.findall(r"\.\s*(\w+)", expression):
        if member not in ("size", "dims"):
            raise Bad(f"'.{member}' in the size '{expression}'",
                      "arithmetic over arguments, .size(), .dims(), [] and ?: are accepted")
    if re.search(r"[^\w\s.()\[\]+\-*/%<>=!?:&|]", expression):
        raise Bad(f"the size '{expression}' cannot be read",
                  "arithmetic over arguments, .size(), .dims(), [] and ?: are accepted")
    return re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression)


def aliases(text: str) -> tuple[Alias, ...]:
    """`(a -> b), (c -> d)`; `(a -> b, c -> d)` is the same."""
    form = "'(input -> output), ...' is accepted"
    result: list[Alias] = []
    for group in split_top(text):
        if not (group.startswith("(") and group.endswith(")")):
            raise Bad(f"'{group}' is not in brackets", form)
        for piece in split_top(group[1:-1]):
            match = re.match(r"(\w+)\s*->\s*(\w+)\Z", piece)
            if not match:
                raise Bad(f"'{piece}' is not a pair", form)
            if any(alias.output == match[2] for alias in result):
                raise Bad(f"output '{match[2]}' has two sources", "an output has one source")
            if any(alias.input == match[1] for alias in result):
                raise Bad(f"input '{match[1]}' has two outputs", "an input has one output")
            result.append(Alias(match[1], match[2]))
    return tuple(result)


_KERNEL = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\{(?P<kinds>[^}]*)\})?\s*,?")


def kernels(text: str) -> tuple[KernelAlternative, ...]:
    form = "'name' or 'name {dense -> dense}', the latter several times, is accepted"
    result, position = [], 0
    while position < len(text.rstrip()):
        match = _KERNEL.match(text, position)
        if not match:
            raise Bad(f"'{text[position:].strip()}' is not a kernel", form)
        position = match.end()
        if match["kinds"] is None:
            result.append(KernelAlternative(match["name"]))
            continue
        sides = [split_top(side) for side in match["kinds"].split("->")]
        if len(sides) != 2:
            raise Bad(f"the types of '{match['name']}' have no single '->'", form)
        inputs, results = ([k for k in side if k] for side in sides)
        for kind in (*inputs, *results):
            if kind not in TENSOR_KINDS:
                raise Bad(f"unknown tensor type '{kind}' of kernel '{match['name']}'"
                          f"{nearest(kind, TENSOR_KINDS)}", f"accepted are {listing(TENSOR_KINDS)}")
        result.append(KernelAlternative(match["name"], tuple(inputs), tuple(results)))
    if not result:
        raise Bad("the kernel name is missing", form)
    if len(result) > 1 and any(kernel.inputs is None for kernel in result):
        raise Bad("one of several kernels has no types", form)
    return tuple(result)


def notation(text: str) -> Notation:
    form = ("one letter a-z per dim, 1 for a dim never split, '...' for leading dims, as in "
            "'... m k, ... k n -> ... m n', and after an input [attribute] for the dims that the "
            "attribute names, is accepted")
    sides = text.split("->")
    if len(sides) != 2:
        raise Bad(f"'{text}' has no single '->'", form)
    inputs, results = (tuple(_term(piece, form) for piece in side.split(",")) for side in sides)
    if sum(term.batch for term in inputs) > 3:
        raise Bad("more than three inputs have '...'", "an op like this needs spmd_rule")
    if any(term.batch for term in results) and not any(term.batch for term in inputs):
        raise Bad("'...' is in an output but in no input", form)
    for letter in "".join(term.letters for term in results):
        if letter != "1" and not any(letter in term.letters for term in inputs):
            raise Bad(f"factor '{letter}' is in an output but in no input",
                      "a factor of an input, or 1 for a dim that is never split, is accepted")
    if any(term.whole for term in results):
        raise Bad("an output has [...]", "only inputs name the dims that are not split")
    return Notation(text, inputs, results)


def _term(text: str, form: str) -> Term:
    whole = re.search(r"\[\s*(\w+)\s*\]\s*\Z", text)
    text = text[:whole.start()] if whole else text
    batch, *letters = text.split() if text.split()[:1] == ["..."] else ["", *text.split()]
    for letter in letters:
        if not re.match(r"[a-z1]\Z", letter):
            raise Bad(f"'{letter}' is not a factor", form)
    return Term("".join(letters), bool(batch), whole[1] if whole else "")


# Of one input: how the output grows with it; of several: how each element of it is one of theirs.
LAW_KINDS = ("up", "down", "join", "meet", "pick", "each")


def partial(text: str) -> Partial:
    """`x_grad = out_grad * y, pick out_grad; y_grad = out_grad * x`; names are not resolved."""
    propagations: list[Propagation] = []
    for group in split_top(text, ";"):
        output, equals, said = group.rpartition("=")
        output = check_name(output.strip(), "an output") if equals else ""
        for propagation in split_top(said):
            propagations += _propagations(propagation, output)
    return Partial(text, tuple(propagations))


def _propagations(text: str, output: str) -> list[Propagation]:
    kind, *names = text.split() or [""]
    if kind in LAW_KINDS and names and names[0] not in ("+", "*"):  # else an input has that name
        for name in names:
            check_name(name, "an input")
        if kind in ("up", "down", "each") and len(names) != 1:
            raise Bad(f"'{text}' names {len(names)} inputs", f"'{kind}' of one is accepted")
        return [Propagation(kind, output, tuple(names))]
    return [_summand(summand, output) for summand in split_top(text, "+")]


def _summand(text: str, output: str) -> Propagation:
    form = ("sums of products of inputs, as in 'bias + x * y', 'prod x' for the elements of a list, "
            f"1 or an attribute for a constant, and {listing(LAW_KINDS)} with inputs after it are accepted")
    if text == "1":
        return Propagation("constant", output)
    tensors, product_of = [], ""
    for factor in split_top(text, "*"):
        match = re.match(r"(prod\s+)?([A-Za-z_]\w*)\Z", factor)
        if not match:
            raise Bad(f"'{factor}' is not an input", form)
        tensors.append(match[2])
        product_of = match[2] if match[1] else product_of
    return Propagation("term", output, tuple(tensors), product_of)


def flops(text: str) -> tuple[Factor, ...]:
    """`2 * out * x[-1] / out[0]`, `4 * q * Share(q, k, causal)`"""
    factors = []
    for product in split_top(text, "*"):
        for place, piece in enumerate(split_top(product, "/")):
            factors.append(_factor(piece, divides=place > 0))
    return tuple(factors)


def _factor(text: str, divides: bool) -> Factor:
    match = re.match(r"(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)(?:\[(-?\d+)\])?)\Z", text)
    if match:
        dim = None if match[3] is None else int(match[3])
        return Factor(divides, match[1] or "", match[2] or "", dim)
    if re.match(r"[A-Za-z_]\w*\s*\(.*\)\Z", text, re.DOTALL):
        function, args = call(text)
        return Factor(divides, function=function, args=args)
    raise Bad(f"'{text}' is not a factor",
              "numbers, tensors (their elements), their extents, and functions of tensors and attributes, as in "
              "'2 * out * x[-1] / out[0]' and '4 * q * Share(q, k, causal)', are accepted")


def call(text: str) -> tuple[str, tuple[str, ...]]:
    """`name(args)`: the name and the arguments' texts."""
    match = re.match(r"([A-Za-z_][\w:]*)\s*\((.*)\)\s*\Z", text, re.DOTALL)
    if not match:
        raise Bad(f"'{text}' is not a call", "'name(arguments)' is accepted")
    args = match[2].strip()
    return match[1], tuple(split_top(args)) if args else ()
