"""The operator reference page."""

from collections.abc import Iterable, Mapping, Sequence

from api_gen import lower
from api_gen.model import (Attr, BackwardOp, Invoke, KernelAlternative, Literal, Op, Output, Param,
                           Rule, Source, TensorArg)
from api_gen.nodes import NodeView


def page(ops: Sequence[Op], gradients: Sequence[BackwardOp], nodes: Mapping[str, NodeView],
         sources: str) -> str:
    """`nodes`: by name, of the ops and gradients that are tracked."""
    names = sorted(op.name for op in ops)
    lines = ["# Operators", "", f"Generated from {sources}; {len(ops)} operators.", "",
             " · ".join(f"[{name}](#{name})" for name in names), ""]
    by_name = {gradient.name: gradient for gradient in gradients}
    for op in ops:
        functions = [f for f in lower.lower_functions(op) if not f.namespace]
        rows = _rows(op)
        differentiated: Op | BackwardOp = op
        while gradient := by_name.get(differentiated.backward or ""):
            functions += lower.lower_gradient(gradient)
            rows += _gradient_rows(gradient, nodes.get(differentiated.name))
            differentiated = gradient
        rows.append(("source", f"{op.at}"))
        lines += [f"## {op.name}", "", "```cpp",
                  *(f"{f.returns} {f.name}({', '.join(f.declared)});" for f in functions), "```",
                  "", "| what | |", "|---|---|",
                  *(f"| {what} | {_cell(text)} |" for what, text in rows if text), ""]
    return "\n".join(lines).rstrip() + "\n"


def _rows(op: Op) -> list[tuple[str, str]]:
    return [
        ("declared only", op.missing),
        ("inputs", _list(_tensor(t) for t in op.tensors)),
        ("attributes", _list(_attr(a) for a in op.attrs)),
        ("outputs", _list(_output(o) for o in op.outputs)),
        ("invokes", _invoke(op.invoke)),
        ("infer meta", _infer_meta(op)),
        ("placement", _placement(op)),
        ("kernel", _kernel(op)),
        ("flops", _flops(op)),
        ("kernels not generated", _others(op)),
        ("data type", _source(op.kernel.data_type) if op.kernel else ""),
        ("place", _source(op.kernel.backend) if op.kernel else ""),
        ("flags", _flags(op)),
    ]


def _gradient_rows(gradient: BackwardOp, node: NodeView | None) -> list[tuple[str, str]]:
    name = f"`{gradient.name}`"
    op = gradient.operator
    made = _list(f"`{output.name}`" for output in gradient.outputs)
    rows = [(f"gradient of `{gradient.forward.name}`", f"{made}, by {name} ({gradient.at})")]
    if op:
        rows += [(f"{name}: infer meta", _infer_meta(op)), (f"{name}: placement", _placement(op)),
                 (f"{name}: kernel", _kernel(op)), (f"{name}: flops", _flops(op))]
    else:
        rows.append((f"{name}: composed of", _invoke(lower.gradient_call(gradient))))
    if not node:
        return [*rows, (f"{name}: saved values", "by the ops that are called")]
    kept = [("meta of " if member.meta_only else "") + f"`{member.name}`"
            for member in node.members]
    return [*rows, (f"{name}: saved values", _list(kept) or "nothing")]


def _invoke(call: Invoke | None) -> str:
    return f"`{call.target}({_list(call.args)})`" if call else ""


def _infer_meta(op: Op) -> str:
    return _call(op.infer_meta.func, op.infer_meta.params) if op.infer_meta else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)


def _tensor(tensor: TensorArg) -> str:
    kind = "Tensor[]" if tensor.is_list else "Tensor"
    return f"`{kind} {tensor.name}`" + (" (optional)" if tensor.optional else "")


def _attr(attr: Attr) -> str:
    kind = f"Scalar({attr.static_type})" if attr.static_type else attr.type.value
    default = f" = {attr.default}" if attr.default not in (None, "std::nullopt") else ""
    return f"`{kind} {attr.name}{default}`" + (" (optional)" if attr.optional else "")


def _output(output: Output) -> str:
    text = f"`{output.name}`"
    if output.is_list:
        text = f"`{output.name}[{output.size}]`"
    marks = [mark for mark, on in (("optional", output.optional),
                                   ("intermediate", output.intermediate)) if on]
    return text + (f" ({', '.join(marks)})" if marks else "")


def _call(func: str, params: Iterable[Param]) -> str:
    return f"`{func}({_list(p.text if isinstance(p, Literal) else p.name for p in params)})`"


def _placement(op: Op) -> str:
    if not op.infer_meta or not op.tensors:
        return "" if op.invoke else "none: the result is a plain tensor"
    spmd = op.infer_meta.spmd
    if spmd is None:
        return lower.placement_text(op)
    return _call(spmd.func, spmd.params) if isinstance(spmd, Rule) else f"`{spmd.text}`"


def _kernel(op: Op) -> str:
    if not op.kernel or not op.kernel.dense:
        return ""
    if not op.launches:
        return "none is launched: the output is a view"
    aliases = "; contiguous parts are aliased, not copied" if op.kernel.alias_offset else ""
    return _call(op.kernel.dense.name, op.kernel.params) + aliases


def _flops(op: Op) -> str:
    """The estimated work of a launch; nothing for a kernel that is bound by memory."""
    if not op.kernel:
        return ""
    text = ""
    for factor in op.kernel.flops:
        value = factor.number or factor.tensor + ("" if factor.dim is None else f"[{factor.dim}]")
        if factor.function:
            value = f"{factor.function}({_list(factor.args)})"
        text += (" / " if factor.divides else " * ") + value
    return f"`{text.removeprefix(' * ')}`" if text else ""


def _others(op: Op) -> str:
    def reason(kernel: KernelAlternative) -> str:
        if kernel.is_dense:
            return "an earlier alternative takes the same types"
        kinds = dict.fromkeys((kernel.inputs or ()) + (kernel.outputs or ()))
        return f"for {_list(kind for kind in kinds if kind != 'dense')} tensors, which do not exist here"

    if not op.kernel:
        return ""
    return _list(f"`{kernel.name}` ({reason(kernel)})" for kernel in op.kernel.alternatives
                 if kernel is not op.kernel.dense)


def _source(source: Source | None) -> str:
    if source is None:
        return ""
    if source.literal:
        return f"`{source.literal}`"
    parts = [source.attr.name] if source.attr else []
    tensors = ", ".join(tensor.name for tensor in source.tensors)
    if tensors:
        parts.append(f"complex of {tensors}" if source.complex_of else f"that of {tensors}")
    return ", else ".join(parts)


def _flags(op: Op) -> str:
    flags = [f"inplace {a.input} → {a.output}" for a in op.inplace]
    flags += [f"view {a.input} → {a.output}" for a in op.view]
    flags += ["run-time shape"] if op.data_dependent else []
    flags += [f"does not need {name}'s buffer" for name in op.no_need_buffer]
    return _list(flags)
