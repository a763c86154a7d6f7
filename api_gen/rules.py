"""Converts operators to view objects: the code that runs each one's rule and shape function."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from api_gen import cpp
from api_gen.lower import op_cpp_name, rule_name
from api_gen.model import Attr, AttrType, Propagation, Notation, Op, Param, TensorArg, Term


@dataclass(frozen=True)
class RuleView:
    name: str
    cpp_name: str  # of its OpDef
    rule: str  # its name
    parts: tuple[str, ...]  # the calls that make the OpRule
    batch: str  # the value of a variable that `infer_spmd` uses, if it does
    infer_spmd: str  # empty: replicated
    shown: tuple[int, ...]  # the tensor arguments that it answers for, unless these are the first
    partial: str  # what passes partial values on, as it is written; empty: nothing
    propagations: tuple[str, ...]  # the same as values
    infer_meta: str


@dataclass(frozen=True)
class SignatureView:
    """An OpSignature (api/library/op_signature.h): the elements of its lists."""

    name: str
    tensors: tuple[str, ...]
    attributes: tuple[str, ...]
    outputs: tuple[str, ...]


def lower_signature(op: Op, inplace: bool) -> SignatureView:
    """The function's arguments; for the inplace variant those of the op."""
    return SignatureView(f"{op.name}_" if inplace else op.name,
                         tuple(f'{{"{tensor.name}", {_kind(tensor)}}}' for tensor in op.tensors),
                         tuple(_declaration(attr) for attr in op.attrs),
                         tuple(f'"{output.name}"' for output in op.outputs))


def lower_rules(ops: Sequence[Op]) -> list[RuleView]:
    """Rules of the ops that launch a kernel; others are calls of these."""
    return [_view(op) for op in ops if op.kernel and op.infer_meta]


def _view(op: Op) -> RuleView:
    assert op.infer_meta
    spmd = op.infer_meta.spmd
    batch, infer_spmd, shown = "", "", ()
    if isinstance(spmd, Notation):
        batch, infer_spmd = _declared(op, spmd)
    elif spmd:
        infer_spmd = _call(op, spmd.func, spmd.params, cpp.spec)
        shown = tuple(param.index for param in spmd.params if isinstance(param, TensorArg))
        shown = () if shown == tuple(range(len(shown))) else shown
    infer_meta = _call(op, op.infer_meta.func, op.infer_meta.params, cpp.meta)
    outputs = [f'.output("{output.name}")' for output in op.outputs]
    return RuleView(op.name, op_cpp_name(op.name), rule_name(op.infer_meta),
                    (*map(_tensor, op.tensors), *map(_attribute, op.attrs), *outputs),
                    batch, infer_spmd, shown, op.infer_meta.partial.text if op.infer_meta.partial else "",
                    tuple(_propagation(op, propagation) for propagation in op.infer_meta.partial.propagations) if op.infer_meta.partial else (),
                    infer_meta)


def _propagation(op: Op, propagation: Propagation) -> str:
    """An aggregate of PartialPropagation."""
    def bits(names: Iterable[str]) -> str:
        return f"{sum(1 << tensor.index for tensor in op.tensors if tensor.name in names):#x}"
    output = next((i for i, output in enumerate(op.outputs) if output.name == propagation.output), -1)
    attribute = next((i for i, attr in enumerate(op.attrs) if attr.name == propagation.attribute), -1)
    return (f"{{PartialPropagation::Kind::k{propagation.kind.capitalize()}, {output}, {attribute}, {bits(propagation.tensors)}, "
            f"{bits([propagation.product_of])}}}")


def _declared(op: Op, notation: Notation) -> tuple[str, str]:
    """The value of the variable `batch`, if one is needed, and the declaration of an equivalent
    hand-written rule."""
    batched = [f"args.spec({i}).ndim() - {len(term.letters)}"
               for i, term in enumerate(notation.inputs) if term.batch]
    inputs = [f".input({', '.join([f'args.spec({i})', *_factor_args(term)])})"
              for i, term in enumerate(notation.inputs)]
    outputs = [f".output({', '.join(_factor_args(term))})" for term in notation.outputs]
    whole = [f".whole_dims({i}, {_axes(op, term.whole)})"
             for i, term in enumerate(notation.inputs) if term.whole]
    return (f"distributed::Factors::batch({', '.join(batched)})" if batched else "",
            "".join(["distributed::Factors()", *inputs, *outputs, *whole]))


def _axes(op: Op, name: str) -> str:
    attr = next(attr for attr in op.attrs if attr.name == name)
    return _attr(op, attr) + (".to<int64_t>()" if attr.type is AttrType.SCALAR else "")


def _factor_args(term: Term) -> list[str]:
    return [*(["batch"] if term.batch else []), f'"{term.letters}"']


def _call(op: Op, func: str, params: Sequence[Param], form: Callable[[Param], str]) -> str:
    def value(param: Param) -> str:
        if not isinstance(param, Attr):
            return form(param)
        return _attr(op, param)
    return f"{func}({', '.join(map(value, params))})"


def _attr(op: Op, attr: Attr) -> str:
    return f"args.attr<{cpp.value_type(attr)}>({op.attrs.index(attr)})"


def _tensor(tensor: TensorArg) -> str:
    kind = _kind(tensor)
    return f'.tensor("{tensor.name}"{"" if kind == "TensorKind::kOne" else f", {kind}"})'


def _kind(tensor: TensorArg) -> str:
    return "TensorKind::" + ("kList" if tensor.is_list else "kOptional" if tensor.optional else "kOne")


def _attribute(attr: Attr) -> str:
    return f".attribute({_declaration(attr)})"


def _declaration(attr: Attr) -> str:
    kind = cpp.value_type(attr)
    default = cpp.default(attr) or ("std::nullopt" if attr.optional else None)
    if default is None:
        return f'OpRule::required<{kind}>("{attr.name}")'
    return f'OpRule::optional<{kind}>("{attr.name}", {default})'
