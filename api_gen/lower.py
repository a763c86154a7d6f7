"""Converts operators to views (views.py), which contain all that the templates need."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from api_gen import cpp
from api_gen.checks import VARIABLES
from api_gen.errors import SpecError, SpecErrors, listing
from api_gen.model import (Attr, AttrType, BackwardOp, InferMeta, Invoke, Literal, Notation, Op, Output,
                           Param, Rule, Source, TensorArg)
from api_gen.nodes import NodeView
from api_gen.views import FunctionView, KernelView, AliasArgs, NamedCallView, OpDefView, OutputView, Tracked

# Names in namespace phi::ops that are functions.
_OPS_FUNCTIONS = ("all", "find")


def op_cpp_name(name: str) -> str:
    return name + "_op" if name in _OPS_FUNCTIONS else name


def kernel_view(op: Op) -> KernelView:
    assert op.kernel
    types = tuple(map(cpp.kernel_type, op.kernel.params))
    names = tuple(param.text.strip('"') if isinstance(param, Literal) else param.name
                  for param in op.kernel.params)
    made = op.made_by_kernel
    return KernelView(_dense_kernel(op), types + tuple(map(cpp.kernel_output_type, made)),
                      names + tuple(output.name for output in made))


def check_kernels(ops: Sequence[Op]) -> None:
    """Errors: two ops that require different signatures of one kernel."""
    seen: dict[str, tuple[Op, KernelView]] = {}
    errors = []
    for op in ops:
        if not op.kernel or not op.kernel.dense:
            continue
        view = kernel_view(op)
        first, agreed = seen.setdefault(view.name, (op, view))
        if agreed != view:
            errors.append(SpecError(
                op.at, "kernel",
                f"kernel '{view.name}' takes ({', '.join(view.types)}) here but "
                f"({', '.join(agreed.types)}) in op '{first.name}' at {first.at}",
                "ops that share a kernel must call it alike; use 'param' or another kernel name"))
    if errors:
        raise SpecErrors(errors)


def lower_op_defs(ops: Sequence[Op]) -> list[OpDefView]:
    """The definitions of ops; an op that only invokes others has none, since it launches no kernel."""
    views = []
    for op in ops:
        if not op.kernel or not op.infer_meta:
            continue
        views.append(OpDefView(op.name, op_cpp_name(op.name),
                               tuple(t.name for t in op.tensors), tuple(o.name for o in op.outputs),
                               _attributes(op), _dense_kernel(op),
                               tuple(p.index for p in op.kernel.params if isinstance(p, TensorArg)),
                               sum(1 << t.index for t in op.tensors
                                   if t.name in op.no_need_buffer), _flops(op)))
    return views


def _flops(op: Op) -> str:
    assert op.kernel
    tensors = (*op.tensors, *op.made_by_kernel)
    values = {tensor.name: f"args.{'list' if tensor.is_list else 'shape'}({i})" for i, tensor in enumerate(tensors)}
    attributes = [param for param in op.kernel.params if not isinstance(param, TensorArg)]
    values |= {attr.name: f"args.attr<{cpp.stored_type(attr)}>({i})"
               for i, attr in enumerate(attributes) if isinstance(attr, Attr)}
    text = ""
    for factor in op.kernel.flops:
        value = (str(float(factor.number)) if factor.number else
                 f"{factor.function}({', '.join(values[arg] for arg in factor.args)})" if factor.function else
                 f"flop_count::elements({values[factor.tensor]})" if factor.dim is None else
                 f"flop_count::extent({values[factor.tensor]}, {factor.dim})")
        text += f" / flop_count::divisor({value})" if factor.divides else f" * {value}"
    return text.removeprefix(" * ")


def _decisive(op: Op) -> set[str]:
    """The attributes that shapes or placements depend on."""
    assert op.infer_meta
    spmd = op.infer_meta.spmd
    params = [*op.infer_meta.params, *(spmd.params if isinstance(spmd, Rule) else ())]
    named = {term.whole for term in spmd.inputs} if isinstance(spmd, Notation) else set()
    named |= {propagation.attribute for propagation in op.infer_meta.partial.propagations} if op.infer_meta.partial else set()
    return named.union(param.name for param in params if isinstance(param, Attr))


def _attributes(op: Op) -> tuple[tuple[str, str, str], ...]:
    decisive = _decisive(op)
    return tuple((attr.name, cpp.attribute_kind(attr), "true" if attr.name in decisive else "false")
                 for attr in op.attrs)


def rule_name(infer_meta: InferMeta) -> str:
    """The rule's function, its declaration, or ""."""
    spmd = infer_meta.spmd
    return spmd.text if isinstance(spmd, Notation) else spmd.func if spmd else ""


def _dense_kernel(op: Op) -> str:
    assert op.kernel and op.kernel.dense  # see checks.py
    return op.kernel.dense.name


def lower_functions(op: Op, node: NodeView | None = None) -> list[FunctionView]:
    """The functions of an op: name, name_ if it is inplace, and both with all outputs in
    phi::intermediate if some outputs are hidden. `node`: what tracks them."""
    if op.invoke and not op.missing:
        return [_invocation(op)]
    variants = [op.name.endswith("_")]
    if op.inplace and not variants[0]:
        variants.append(True)
    if op.missing:
        return [_declared_only(op, inplace) for inplace in variants]
    views = []
    for inplace in variants:
        full = _Builder(op, inplace, node).function()
        views.append(full)
        if full.namespace:
            views.append(_visible(op, full, inplace))
    return views


def lower_gradient(gradient: BackwardOp, node: NodeView | None = None) -> list[FunctionView]:
    """The gradient function: a separate operator, or a call of others."""
    return lower_functions(gradient_op(gradient), node)


def gradient_op(gradient: BackwardOp) -> Op:
    """The gradient as an op with a kernel, or as one that invokes others."""
    return gradient.operator or Op(
        name=gradient.name, at=gradient.at, tensors=gradient.tensors, attrs=gradient.attrs,
        outputs=gradient.outputs, invoke=gradient_call(gradient), selective=gradient.selective,
        missing=gradient.missing, lacks=gradient.lacks)


def gradient_call(gradient: BackwardOp) -> Invoke | None:
    """The call that implements a gradient without a kernel; None if it has none."""
    if not gradient.composite:
        assert gradient.invoke or gradient.lacks
        return gradient.invoke
    # Paddle's format ends the arguments with the outputs.
    results = [output.name for output in gradient.outputs]
    args = [arg for arg in gradient.composite.args if arg not in results]
    if gradient.selective:
        args.append("wanted")
    return Invoke(f"composite::{gradient.composite.target}", tuple(args))


def has_inplace_variant(op: Op) -> bool:
    """Whether there is an inplace function name_."""
    return bool(op.inplace) and not op.invoke and not op.missing and not op.name.endswith("_")


def lower_named_call(op: Op, inplace: bool = False) -> NamedCallView:
    """The call that returns all outputs, hidden ones included."""
    name = f"{op.name}_" if inplace else op.name
    hidden = not op.invoke and any(output.intermediate for output in op.outputs)
    forms = [f"args.{'list' if t.is_list else 'optional' if t.optional else 'tensor'}({t.index})"
             for t in op.tensors]
    values = [f"args.attr<{cpp.value_type(attr)}>({i})" for i, attr in enumerate(op.attrs)]
    return NamedCallView(name, _call(f"phi::{'intermediate::' if hidden else ''}{name}", [*forms, *values]))


def _parameters(op: Op, written: Sequence[str], used: set[str] | None
                ) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parameters as declared (with defaults) and as defined (unused ones without a name)."""
    declared, defined = [], []
    open_end = all(attr.default is not None for attr in op.attrs)
    for arg in reversed(op.args):
        kind = cpp.api_type(arg, arg.name in written)
        default = ""
        if isinstance(arg, Attr):
            value = cpp.default(arg)
            default = f" = {value}" if value is not None else ""
        elif open_end and arg.optional and arg.name not in written:
            default = " = {}" if arg.is_list else " = std::nullopt"
        else:
            open_end = False
        declared.append(f"{kind} {arg.name}{default}")
        hidden = used is not None and isinstance(arg, Attr) and arg.name not in used
        defined.append(f"{kind} /*{arg.name}*/" if hidden else f"{kind} {arg.name}")
    return tuple(reversed(declared)), tuple(reversed(defined))


def _join(args: Iterable[str]) -> str:
    return ", ".join(args)


def _call(func: str, args: Iterable[str]) -> str:
    return f"{func}({_join(args)})"


def _source_tensors(tensors: Sequence[TensorArg]) -> Sequence[TensorArg]:
    """The first tensors, up to one that is always present."""
    for i, tensor in enumerate(tensors):
        if not tensor.optional and not tensor.is_list:
            return tensors[:i + 1]
    return tensors


def _returned(types: Sequence[str]) -> str:
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{_join(types)}>"


class _Builder:
    """Builds the function that does the work of one op, inplace or not."""

    def __init__(self, op: Op, inplace: bool, node: NodeView | None):
        assert op.kernel and op.infer_meta
        self.op, self.inplace, self.node = op, inplace, node
        self.kernel, self.infer_meta = op.kernel, op.infer_meta
        self.targets = {alias.output: alias.input for alias in op.inplace} if inplace else {}
        self.taken = {arg.name for arg in op.args} | set(VARIABLES)

    def fresh(self, name: str) -> str:
        """`name`, with '_' appended if an argument has the same name."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def function(self) -> FunctionView:
        op, kernel = self.op, self.kernel
        outputs = self._outputs()
        name = op.name if op.name.endswith("_") or not self.inplace else op.name + "_"
        is_view = len(op.view) == len(op.outputs) == 1
        hidden = any(output.intermediate for output in op.outputs)
        declared, defined = _parameters(op, list(self.targets.values()), None)
        if op.selective:
            declared, defined = (*declared, "GradMask wanted = {}"), (*defined, "GradMask wanted")
        draws, defined = self._draws(defined)
        place = self._place() if op.launches else ""
        makes = [o for o, output in zip(outputs, op.outputs) if output in op.made_by_kernel]
        results = [output.target or output.name for output in outputs]
        return FunctionView(
            op=op.name, op_def=op_cpp_name(op.name),
            kernel=_dense_kernel(op), name=name, source=op.at.file,
            returns=_returned([output.type for output in outputs]),
            declared=declared, defined=defined,
            result=results[0] if len(results) == 1 else "{" + _join(results) + "}",
            doc=_doc(op, self.inplace, op.outputs), namespace="intermediate" if hidden else "",
            selective=op.selective,
            tracked=self._tracked(outputs), outputs=tuple(outputs),
            tensors=tuple(t.name for t in op.tensors),
            dense_infer=_call(self.infer_meta.func, map(cpp.dense_meta, self.infer_meta.params)),
            attrs=(*(attr.name for attr in op.attrs), *(["wanted"] if op.selective else [])),
            called=(f"ops::{op_cpp_name(op.name)}" if name == op.name else
                    f'as(ops::{op_cpp_name(op.name)}, "{name}")'),
            place=place, place_name=self.place_name,
            dtype=self._dtype() if op.launches else "", launches=op.launches,
            dense_args=(*map(cpp.dense_value, kernel.params), *(o.dense_arg for o in makes)),
            local_args=(*map(cpp.local_value, kernel.params), *(o.local_arg for o in makes)),
            noted=tuple(alias.input for alias in op.written_views),
            needs_local=(bool(op.view) or bool(self.targets)
                         or any(isinstance(p, TensorArg) for p in kernel.params)),
            view_of=next((t for t in op.tensors if is_view and t.name == op.view[0].input), None),
            alias_args=self._alias_args(), data_dependent=op.data_dependent, draws=draws)

    def _draws(self, defined: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Statements that draw omitted seeds, and the parameters under other names."""
        statements = []
        for arg in self.op.args:
            settled = self._seed(arg) if isinstance(arg, Attr) else self._seed_offset(arg)
            if settled is None:
                continue
            given = self.fresh(f"given_{arg.name}")
            statements.append(settled.format(given))
            defined = tuple(re.sub(rf"\b{arg.name}$", given, parameter) for parameter in defined)
        return tuple(statements), defined

    def _seed(self, attr: Attr) -> str | None:
        if not attr.is_drawn:
            return None
        slot = self.kernel.params.index(attr) if attr in self.kernel.params else -1
        fixed = [other.name for other in self.op.attrs if other.name == "fix_seed"]
        return f"const CallSeed {attr.name}({_join([f'ops::{op_cpp_name(self.op.name)}', '{}', str(slot), *fixed])});"

    def _seed_offset(self, tensor: TensorArg) -> str | None:
        """Attention accepts seed and offset in a tensor."""
        attrs = [attr.name for attr in self.op.attrs]
        if tensor.name != "fixed_seed_offset" or not tensor.optional or "dropout" not in attrs:
            return None
        drops = "dropout > 0 && !is_test" if "is_test" in attrs else "dropout > 0"
        return f"const std::optional<Tensor> {tensor.name} = seed_offset_for({{}}, {self.op.tensors[0].name}, {drops});"

    def _alias_args(self) -> AliasArgs | None:
        if not self.kernel.alias_offset:
            return None
        aliased, *others = self.kernel.params
        behind = (self.kernel.alias_offset, *map(cpp.dense_value, others))
        return AliasArgs((cpp.dense_value(aliased), *behind), (cpp.local_value(aliased), *behind))

    def _outputs(self) -> list[OutputView]:
        views = []
        place = self._place() if self.op.launches else ""
        viewed = {alias.output: alias.input for alias in self.op.view}
        new = sum(output.name not in self.targets and output.name not in viewed
                  for output in self.op.outputs)
        self.place_name = self.fresh("place") if new > 1 and "(" in place else ""
        index = {tensor.name: tensor.index for tensor in self.op.tensors}
        single = len(self.op.outputs) == 1
        for slot, output in enumerate(self.op.outputs):
            target = self.targets.get(output.name)
            name = self.fresh(output.name)
            meta = self.fresh("meta" if single else f"{output.name}_meta")
            maker = ("new_tensors" if output.is_list else
                     "new_tensor_unshaped" if self.op.data_dependent else "new_tensor")
            kind = cpp.api_type(self.op.tensors[index[target]], True) if target else (
                cpp.returned_type(output))
            made = _call(maker, [meta, self.place_name or place])
            if self.op.selective:
                made = f"wanted[{slot}] ? {made} : {kind}()"
            source = self.op.tensors[index[viewed[output.name]]] if output.name in viewed else None
            views.append(OutputView(name, meta, slot, output.is_list, kind, made, target,
                                    self.op.tensors[index[target]] if target else None,
                                    any(o.is_list for o in self.op.outputs[:slot]),
                                    source, self._slot_of(source) if source else ""))
        return views

    def _slot_of(self, tensor: TensorArg) -> str:
        """The slot among the inputs of a distributed call, where each list element has a slot."""
        after_list = any(other.is_list for other in self.op.tensors[:tensor.index])
        return f"args.range({tensor.index}).first" if after_list else str(tensor.index)

    def _tracked(self, outputs: Sequence[OutputView]) -> Tracked | None:
        node = self.node
        if node is None:
            return None
        names = {arg.name: arg.name for arg in self.op.args}
        names |= {attr.name: f"{attr.name}.known()" for attr in self.op.attrs if attr.is_drawn}
        reshaped = [alias.input for alias in self.op.kept_views if alias.output in self.targets]
        before = tuple((self.fresh("before"), name) for name in reshaped)
        names |= {name: variable for variable, name in before}
        results = []
        for output, view in zip(self.op.outputs, outputs):
            names[output.name] = view.target or view.name
            if view.target_arg and view.target_arg.optional:
                names[output.name] += ".value_or(Tensor())"
            is_optional = view.target_arg is not None and view.target_arg.optional
            if is_optional or output.name in node.differentiable:
                results.append(view.target or view.name)
            else:
                results.append(f"without_grad({view.target or view.name})")
        overwritten = [(o.target, "true" if o.target in node.values else "false")
                       for o in outputs if o.target]
        overwritten += [(alias.input, "true") for alias in self.op.written_views
                        if alias.input in node.values]
        return Tracked(node=f"new {_call(node.name, [names[a] for a in node.arguments])}",
                        inputs=tuple(t.name for t in self.op.tensors if t.name in node.inputs),
                        outputs=tuple(results), before=before, overwritten=tuple(overwritten))

    def _dtype(self) -> str:
        source = self.kernel.data_type or Source(tensors=tuple(_source_tensors(self.op.tensors)))
        found = _resolve(_or_tensors(source, self.op.tensors), "dtype", lambda tensors: (
            f"{tensors[0].name}.dtype()" if _is_plain(tensors) else _call(
                "dtype_of", [t.name for t in tensors])))
        return _call("complex_of", [found]) if source.complex_of else found

    def _place(self) -> str:
        """An attribute without a value defers to the tensors, or to the rank."""
        source = _or_tensors(self.kernel.backend or Source(tensors=self.op.tensors), self.op.tensors)
        if source.attr and not source.tensors:
            return f"place_or({source.attr.name}, place_of())"
        return _resolve(source, "place", lambda tensors: _call(
            "place_of", [t.name for t in tensors]))


def _or_tensors(source: Source, tensors: Sequence[TensorArg]) -> Source:
    """An absent optional attribute defers to the tensors."""
    if source.attr and source.attr.optional and not source.tensors:
        return replace(source, tensors=tuple(_source_tensors(tensors)))
    return source


def _is_plain(tensors: Sequence[TensorArg]) -> bool:
    return len(tensors) == 1 and not tensors[0].optional and not tensors[0].is_list


def _resolve(source: Source, what: str,
             of_tensors: Callable[[Sequence[TensorArg]], str]) -> str:
    if source.literal:
        return source.literal
    if not source.attr:
        return of_tensors(source.tensors)
    if not source.tensors:
        return source.attr.name
    return f"{what}_or({source.attr.name}, {of_tensors(source.tensors)})"


def _visible(op: Op, full: FunctionView, inplace: bool) -> FunctionView:
    """The public function of an op with hidden outputs."""
    shown = [view for view, output in zip(full.outputs, op.outputs) if not output.intermediate]
    declared, defined = _parameters(op, [o.target for o in full.outputs if o.target], None)
    call = _call(f"intermediate::{full.name}", [arg.name for arg in op.args])
    several = len(shown) > 1
    if not several:
        call = f"std::get<{shown[0].number}>({call})"
    names = [output.target or output.name for output in shown]
    return FunctionView(
        op=op.name, op_def=full.op_def, kernel=full.kernel, name=full.name,
        source=full.source, returns=_returned([output.type for output in shown]), declared=declared,
        defined=defined, result="{" + _join(names) + "}" if several else "", call=call,
        bindings=tuple(output.name for output in full.outputs) if several else (),
        doc=_doc(op, inplace, op.visible_outputs))


def _invocation(op: Op) -> FunctionView:
    assert op.invoke
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(op.invoke.args)))
    written = [alias.input for alias in op.inplace] if op.name.endswith("_") else []
    declared, defined = _parameters(op, written, used)
    if op.selective:
        declared, defined = (*declared, "GradMask wanted = {}"), (*defined, "GradMask wanted")
    targets = {alias.output: alias.input for alias in op.inplace} if written else {}
    types = ["Tensor&" if o.name in targets else cpp.returned_type(o) for o in op.outputs]
    return FunctionView(
        op=op.name, op_def="", kernel="", name=op.name, source=op.at.file,
        returns=_returned(types), declared=declared, defined=defined, result="",
        call=_call(op.invoke.target, op.invoke.args), doc=_doc(op, bool(written), op.outputs))


def _declared_only(op: Op, inplace: bool) -> FunctionView:
    """A function with the op's signature that says why there is no more of it."""
    targets = {alias.output: alias.input for alias in op.inplace} if inplace else {}
    declared, _ = _parameters(op, list(targets.values()), None)
    if op.selective:
        declared = (*declared, "GradMask wanted = {}")
    kinds = {tensor.name: cpp.api_type(tensor, True) for tensor in op.tensors}
    types = [kinds[targets[o.name]] if o.name in targets else cpp.returned_type(o)
             for o in op.visible_outputs]
    name = op.name if op.name.endswith("_") or not inplace else op.name + "_"
    returns = _returned(types)
    return FunctionView(
        op=op.name, op_def="", kernel="", name=name, source=op.at.file, returns=returns,
        declared=declared, defined=tuple(_unnamed(parameter) for parameter in declared), result="",
        call=f'throw_unimplemented_op<{returns}>("{name}", {cpp.literal(op.missing)})',
        doc=(f"{op.name}{_signature_text(op)} -> {_join([o.name for o in op.visible_outputs])}",
             f"Missing    {op.missing}", f"Source     {op.at.file}"))


def _unnamed(parameter: str) -> str:
    kind, name = parameter.partition(" = ")[0].rsplit(" ", 1)
    return f"{kind} /*{name}*/"


def _doc(op: Op, inplace: bool, outputs: Sequence[Output]) -> tuple[str, ...]:
    lines = [f"{op.name}{_signature_text(op)} -> {_join([output.name for output in outputs])}"]
    if inplace:
        pairs = _join([f"`{alias.input}` receives {alias.output}" for alias in op.inplace])
        lines.append(f"Inplace    {pairs}; placements do not change" if not op.kept_views else
                     f"Inplace    {pairs}; the storage does not change")
    elif op.kept_views:
        shared = _join([f"{alias.output} shares the bytes of {alias.input}" for alias in op.kept_views])
        lines.append(f"View       {shared}")
    if op.written_views:
        written = _join([f"{alias.input} is written to, and {alias.output} shares its bytes"
                         for alias in op.written_views])
        lines.append(f"View       {written}")
    if op.kernel and op.kernel.alias_offset:
        aliased = op.kernel.params[0]
        assert isinstance(aliased, TensorArg)
        lines.append(f"Aliases    contiguous parts of {aliased.name} are copied when either is written to")
    if op.infer_meta:
        found = "; the kernel determines data-dependent sizes" if op.data_dependent else ""
        lines.append(f"Shapes     {op.infer_meta.func}{found}")
        if op.tensors:
            lines.append(f"Placement  {placement_text(op)}")
    if op.invoke:
        lines.append(f"Calls      {_call(op.invoke.target, op.invoke.args)}")
    optional = [x.name for x in (*op.tensors, *outputs) if x.optional]
    if optional:
        lines.append(f"Optional   {_join(optional)}")
    if op.selective:
        lines.append("Wanted     gradients that are not requested are not computed and stay undefined")
    lines.append(f"Source     {op.at.file}")
    return tuple(lines)


def _signature_text(op: Op) -> str:
    return f"({_join([arg.name for arg in op.args])})"


def placement_text(op: Op) -> str:
    return (rule_name(op.infer_meta) if op.infer_meta else "") or "inputs and outputs replicated"
