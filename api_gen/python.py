"""Generates the Python interface of operators: the sources of the binding, one function per operator
that reads its arguments from a Frame (python/src/ops/frame.h), and stubs with types, defaults and docstrings."""

import ast
import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from api_gen import cpp, groups, lower
from api_gen.grammar import split_top
from api_gen.model import Attr, AttrType, BackwardOp, Op, Output, TensorArg

# Functions of consecutive families that are compiled together.
_COMPILED_TOGETHER = 60
# Of a docstring.
_COLUMNS = 92
# What Tensor has of its own under these names is no operator.
_OWN = frozenset(("numel", "shape"))

# Parameters of operators that Python gives more forms of (python/autophi/ops.py).
_BY_HAND = {
    "arange": "start: float, end: float | None = None, step: float = 1, dtype: DTypeLike | None = None, "
              "place: str | None = None",
}

_HINTS = {
    AttrType.INT: "int",
    AttrType.INT64: "int",
    AttrType.SIZE: "int",
    AttrType.BOOL: "bool",
    AttrType.FLOAT: "float",
    AttrType.DOUBLE: "float",
    AttrType.STR: "str",
    AttrType.INTS: "int | Sequence[int]",
    AttrType.INT64S: "int | Sequence[int]",
    AttrType.FLOATS: "Sequence[float]",
    AttrType.DOUBLES: "Sequence[float]",
    AttrType.BOOLS: "Sequence[bool]",
    AttrType.STRS: "Sequence[str]",
    AttrType.INT_ARRAY: "int | Sequence[int]",
    AttrType.SCALAR: "bool | int | float",
    AttrType.SCALARS: "Sequence[bool | int | float]",
    AttrType.DATA_TYPE: "DTypeLike",
    AttrType.DATA_LAYOUT: "str",
    AttrType.PLACE: "str",
}
# What lists are of.
_ELEMENTS = {
    AttrType.INTS: AttrType.INT,
    AttrType.INT64S: AttrType.INT64,
    AttrType.INT_ARRAY: AttrType.INT64,
    AttrType.FLOATS: AttrType.FLOAT,
    AttrType.DOUBLES: AttrType.DOUBLE,
    AttrType.BOOLS: AttrType.BOOL,
    AttrType.STRS: AttrType.STR,
    AttrType.SCALARS: AttrType.SCALAR,
}


@dataclass(frozen=True)
class ArgumentView:
    name: str
    hint: str  # its type in Python
    default: str | None  # in Python; None where it must be given
    variable: str  # in the generated function
    declared: str  # the statement that reads it from the frame

    @property
    def parameter(self) -> str:
        return f"{self.name}: {self.hint}" + (f" = {self.default}" if self.default else "")


@dataclass(frozen=True)
class BindingView:
    """One function of Python: an operator, or its inplace variant."""

    name: str
    op: str  # the operator whose kernel runs; nothing where it calls others
    group: str  # whose header declares it
    family: str
    source: str
    arguments: tuple[ArgumentView, ...]
    returns: str
    doc: tuple[str, ...]
    is_method: bool  # its first argument is a tensor
    may_wait: bool  # for other ranks, though its tensors are plain

    @property
    def signature(self) -> str:
        return ", ".join(a.name + (f"={a.default}" if a.default else "") for a in self.arguments)

    @property
    def parameters(self) -> str:
        return _BY_HAND.get(self.name) or ", ".join(a.parameter for a in self.arguments)

    @property
    def method_parameters(self) -> str:
        return ", ".join(["self", *(a.parameter for a in self.arguments[1:])])

    @property
    def call(self) -> str:
        return f"phi::{self.name}({', '.join(a.variable for a in self.arguments)})"

    @property
    def text(self) -> str:
        return "\n".join(self.doc)


def bindings(ops: Sequence[Op], gradients: Sequence[BackwardOp],
             comments: Mapping[str, str]) -> list[BindingView]:
    """The functions by family. `comments`: comments of shape functions and rules in headers, by name."""
    by_name = {gradient.name: gradient for gradient in gradients}
    views = []
    for op in ops:
        if op.missing:
            continue
        variants = [op.name.endswith("_")]
        if op.inplace and not op.invoke and not variants[0]:
            variants.append(True)
        views += [_binding(op, inplace, by_name.get(op.backward or ""), comments) for inplace in variants]
    return sorted(views, key=lambda view: view.family)


def batches(views: Sequence[BindingView]) -> list[list[BindingView]]:
    """Complete families, in order."""
    result: list[list[BindingView]] = []
    for view in views:
        if not result or (len(result[-1]) >= _COMPILED_TOGETHER and view.family != result[-1][-1].family):
            result.append([])
        result[-1].append(view)
    return result


def _binding(op: Op, inplace: bool, gradient: BackwardOp | None, comments: Mapping[str, str]) -> BindingView:
    targets = {alias.input for alias in op.inplace} if inplace else set()
    return BindingView(
        name=op.name if op.name.endswith("_") or not inplace else f"{op.name}_",
        op="" if op.invoke else op.name, group=op.name, family=groups.family(op), source=op.at.file,
        arguments=_arguments(op, targets), returns=_returns(op),
        doc=_doc(op, inplace, gradient, comments),
        is_method=(bool(op.tensors) and not op.tensors[0].is_list and not op.tensors[0].optional
                   and op.name not in _OWN),
        may_wait=any(attr.name == "ring_id" for attr in op.attrs))


def _arguments(op: Op, written: set[str]) -> tuple[ArgumentView, ...]:
    """An optional tensor may be left out where all that follow may: as in C++."""
    views: list[ArgumentView] = []
    open_end = all(attr.default is not None for attr in op.attrs)
    for i, arg in reversed(list(enumerate(op.args))):
        if isinstance(arg, Attr):
            views.append(_attribute(i, arg))
            continue
        default = None
        if open_end and arg.optional and arg.name not in written:
            default = "None"
        else:
            open_end = False
        views.append(ArgumentView(_python_name(arg.name), _tensor_hint(arg), default, arg.name,
                                  _tensor_statement(i, arg, arg.name in written)))
    return tuple(reversed(views))


def _tensor_hint(tensor: TensorArg) -> str:
    return ("Sequence[Tensor]" if tensor.is_list else "Tensor") + (" | None" if tensor.optional else "")


def _tensor_statement(i: int, tensor: TensorArg, written: bool) -> str:
    const = "" if written else "const "
    if tensor.is_list:
        return f"{const}std::vector<Tensor> {tensor.name} = frame.list({i});"
    if tensor.optional:
        return f"{const}std::optional<Tensor> {tensor.name} = frame.optional({i});"
    return f"{const}Tensor& {tensor.name} = frame.{'written' if written else 'tensor'}({i});"


def _attribute(i: int, attr: Attr) -> ArgumentView:
    kind = cpp.value_type(replace(attr, optional=False))
    default = None if attr.default is None else _python_default(attr)
    if attr.optional:
        otherwise = "std::nullopt" if default in (None, "None") else cpp.default(attr)
        statement = f"const auto {attr.name} = frame.optional_attr<{kind}>({i}, {otherwise});"
        default = default or "None"
    elif attr.default is None:
        statement = f"const auto {attr.name} = frame.attr<{kind}>({i});"
    else:
        statement = f"const auto {attr.name} = frame.attr<{kind}>({i}, {attr.default});"
    hint = _HINTS[attr.type] + (" | None" if attr.optional or default == "None" else "")
    return ArgumentView(_python_name(attr.name), hint, default, attr.name, statement)


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _python_default(attr: Attr) -> str:
    """The C++ expression, of the forms that grammar.py accepts, in Python syntax."""
    text = (attr.default or "").strip()
    if text == "std::nullopt":
        return "None"
    if attr.type == AttrType.DATA_TYPE:
        name = text.removeprefix("DataType::").lower()
        return "None" if name == "undefined" else repr(name)
    if attr.type == AttrType.DATA_LAYOUT:
        name = text.removeprefix("DataLayout::")
        return "None" if name == "UNDEFINED" else repr({"ANY": "any"}.get(name, name))
    if attr.type == AttrType.PLACE:
        place = re.match(r"(CPU|GPU)Place\((\d*)\)", text)
        return repr(f"{place[1].lower()}:{place[2] or 0}".removesuffix(":0")) if place else "None"
    if attr.type in _ELEMENTS:
        elements = [_python_literal(_ELEMENTS[attr.type], piece) for piece in split_top(text[1:-1]) if piece]
        return f"({elements[0]},)" if len(elements) == 1 else f"({', '.join(elements)})"
    return _python_literal(attr.type, text)


def _python_literal(kind: AttrType, text: str) -> str:
    if kind == AttrType.STR:
        return repr(ast.literal_eval(text))
    if kind == AttrType.BOOL:
        return str(text in ("true", "1"))
    if kind == AttrType.SCALAR and text in ("true", "false"):
        return text.capitalize()
    return _python_number(text, kind in (AttrType.INT, AttrType.INT64, AttrType.SIZE))


_LIMITS = {f"{sign}INT{bits}_M{end}": value
           for bits, size in (("", 32), ("8", 8), ("16", 16), ("32", 32), ("64", 64))
           for sign, end, value in (("", "AX", 2**(size - 1) - 1), ("", "IN", -2**(size - 1)),
                                    ("U", "AX", 2**size - 1))}


def _python_number(text: str, whole: bool) -> str:
    """Keeps a number as written; evaluates an expression."""
    if text in ("true", "false"):
        return str(int(text == "true"))
    text = re.sub(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFlLuU]+\b", r"\1", text)
    if re.fullmatch(r"[-+]?\d[\d.]*(?:[eE][+-]?\d+)?", text):
        return text + ("0" if text.endswith(".") else "")
    divided = text.replace("/", "//") if whole or not re.search(r"[.eE]", text) else text
    return repr(eval(divided, {"__builtins__": {}}, _LIMITS))  # pylint: disable=eval-used


def _returns(op: Op) -> str:
    kinds = [_output_hint(output) for output in op.visible_outputs]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def _output_hint(output: Output) -> str:
    return "list[Tensor]" if output.is_list else "Tensor | None" if output.optional else "Tensor"


# ---- what docstrings say ----


def _doc(op: Op, inplace: bool, gradient: BackwardOp | None, comments: Mapping[str, str]) -> tuple[str, ...]:
    outputs = ", ".join(output.name for output in op.visible_outputs)
    names = ", ".join(arg.name for arg in op.args)
    name = op.name if op.name.endswith("_") or not inplace else f"{op.name}_"
    lines = [f"{name}({names}) -> {outputs}", ""]
    if inplace and op.inplace:
        written = ", ".join(f"{alias.input} receives {alias.output}" for alias in op.inplace)
        lines.append(f"Inplace    {written}; the change is visible through every handle")
    else:
        lines += [f"View       {alias.output} shares the bytes of {alias.input}" for alias in op.kept_views]
    lines += [f"View       {alias.input} is written to, and {alias.output} shares its bytes"
              for alias in op.written_views]
    if op.infer_meta:
        lines.append(f"Shapes     {_said(op.infer_meta.func, comments)}")
        if op.tensors:
            rule = lower.placement_text(op)
            lines.append(f"Placement  {_said(rule, comments)}")
    if op.invoke:
        lines.append(f"Calls      {op.invoke.target}({', '.join(op.invoke.args)})")
    lines.append(f"Gradient   {_gradient(gradient)}")
    lines.append("Errors     ValueError, naming the arguments, for invalid shapes and dtypes;"
                 " TypeError for an argument of another type")
    lines.append(f"Source     {op.at.file}")
    return tuple(line for text in lines for line in _wrapped(text))


def _wrapped(text: str) -> list[str]:
    """Continuation lines are aligned with the text after the label."""
    return textwrap.wrap(text, _COLUMNS, subsequent_indent=" " * 11, break_long_words=False,
                         break_on_hyphens=False) or [""]


def _said(name: str, comments: Mapping[str, str]) -> str:
    comment = comments.get(name, "")
    return f"{name}: {comment}" if comment else name


def _gradient(gradient: BackwardOp | None) -> str:
    if gradient is None:
        return "none"
    made = ", ".join(output.name for output in gradient.outputs)
    return f"{gradient.name} is missing: {gradient.missing}" if gradient.missing else f"{gradient.name} returns {made}"


def groups_of(views: Iterable[BindingView]) -> list[str]:
    return sorted({view.group for view in views})
