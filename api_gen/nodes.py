"""Converts an op and its gradient to view objects: the node class that tracks calls of the op."""

from collections.abc import Iterable
from dataclasses import dataclass

from api_gen import cpp
from api_gen.model import Attr, BackwardOp, Op, Output, TensorArg


@dataclass(frozen=True)
class MemberView:
    """A value that a node saves: a tensor, a list of tensors, or an attribute."""

    name: str  # the constructor's parameter; the member is name_
    parameter: str
    type: str
    value: str  # the expression that gives it to the gradient function
    is_saved: bool = False  # a tensor or a list
    meta_only: bool = False

    @property
    def initial(self) -> str:
        return f"{self.type}::meta_of({self.name})" if self.meta_only else self.name


@dataclass(frozen=True)
class NodeView:
    name: str
    op: str  # whose calls it tracks
    gradient: str
    source: str
    members: tuple[MemberView, ...]
    parameters: tuple[str, ...]  # of the constructor, with types
    arguments: tuple[str, ...]  # of the constructor: names of the op's arguments and outputs
    inputs: tuple[str, ...]  # tensors that get a gradient, in the order of their edges
    values: tuple[str, ...]  # inputs whose bytes the gradient needs
    differentiable: tuple[str, ...]  # outputs whose gradient is used
    call: tuple[str, ...]  # arguments of the gradient function
    results: tuple[str, ...]  # one per input
    missing: str = ""  # why there is no gradient: backward passes through the op are errors

    @property
    def saved(self) -> tuple[MemberView, ...]:
        return tuple(member for member in self.members if member.is_saved)


def camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def lower_node(op: Op, gradient: BackwardOp) -> NodeView:
    return _without_gradient(op, gradient) if gradient.missing else _NodeBuilder(op, gradient).node()


def _without_gradient(op: Op, gradient: BackwardOp) -> NodeView:
    inputs = tuple(tensor.name for tensor in op.tensors)
    return NodeView(
        name=f"{camel_case(gradient.name)}Node", op=op.name, gradient=gradient.name,
        source=gradient.at.file, members=(),
        parameters=tuple(f"{cpp.api_type(tensor)} {tensor.name}" for tensor in op.tensors),
        arguments=inputs, inputs=inputs, values=(), call=(), results=(), missing=gradient.missing,
        differentiable=tuple(output.name for output in op.outputs))


class _NodeBuilder:
    def __init__(self, op: Op, gradient: BackwardOp):
        self.op, self.gradient = op, gradient
        # The gradient may name tensors and attributes of the op in its own way.
        said = gradient.forward
        self.inputs = dict(zip((t.name for t in said.tensors), op.tensors))
        self.outputs = dict(zip((o.name for o in said.outputs), op.outputs))
        self.attrs = dict(zip((a.name for a in said.attrs), op.attrs))
        self.slots = {o.name: slot for slot, o in enumerate(said.outputs)}
        self.members: list[MemberView] = []

    def node(self) -> NodeView:
        gradient = self.gradient
        call = [*map(self._tensor, gradient.tensors), *map(self._attr, gradient.attrs)]
        wanted = [output.name.removesuffix("_grad") for output in gradient.outputs]
        inputs = [self.inputs[name].name for name in wanted]
        if len(wanted) > 1:
            call.append("out.mask()")
        kept = [member.name for member in self.members]
        # Edges are made of inputs that are not kept too.
        extra = [t for t in self.op.tensors if t.name in inputs and t.name not in kept]
        parameters = [m.parameter for m in self.members] + [
            f"{cpp.api_type(t)} {t.name}" for t in extra]
        return NodeView(
            name=f"{camel_case(gradient.name)}Node", op=self.op.name, gradient=gradient.name,
            source=gradient.at.file, members=tuple(self.members), parameters=tuple(parameters),
            arguments=(*kept, *(t.name for t in extra)), inputs=tuple(inputs),
            values=tuple(t.name for t in self.inputs.values() if self._needs_value(t)),
            differentiable=tuple(o.name for name, o in self.outputs.items() if f"{name}_grad" in
                                 [t.name for t in gradient.tensors]),
            call=tuple(call), results=tuple(o.name for o in gradient.outputs))

    def _needs_value(self, tensor: TensorArg) -> bool:
        return any(self.inputs.get(t.name) == tensor and t.name not in self.gradient.no_need_buffer
                   for t in self.gradient.tensors)

    def _tensor(self, arg: TensorArg) -> str:
        if arg.name in self.inputs:
            return self._save(arg, self.inputs[arg.name])
        if arg.name in self.outputs:
            return self._save(arg, self.outputs[arg.name])
        slot = self.slots[arg.name.removesuffix("_grad")]
        if arg.is_list:
            return f"in.list({slot})"
        return f"in.optional({slot})" if arg.optional else f"in.grad({slot})"

    def _save(self, arg: TensorArg, kept: TensorArg | Output) -> str:
        kind = "SavedList" if kept.is_list else "SavedTensor"
        # An optional list that is absent is empty.
        is_optional = arg.optional and not kept.is_list
        value = f"{kept.name}_.optional()" if is_optional else f"{kept.name}_.get()"
        # An output that may be absent is an undefined tensor, an input an empty optional.
        given = (cpp.api_type(kept) if isinstance(kept, TensorArg) else
                 f"const {cpp.returned_type(kept)}&")
        self.members.append(MemberView(kept.name, f"{given} {kept.name}", kind, value, True,
                                       arg.name in self.gradient.no_need_buffer))
        return value

    def _attr(self, arg: Attr) -> str:
        own = self.attrs.get(arg.name)
        if own is None:
            default = cpp.default(arg)
            assert default is not None  # see backward.py
            return default
        self.members.append(MemberView(own.name, f"{cpp.attr_type(own.given)} {own.name}",
                                       cpp.value_type(own.given), f"{own.name}_"))
        return f"{own.name}_"


def nodes_by_op(ops: Iterable[Op], gradients: Iterable[BackwardOp]) -> dict[str, NodeView]:
    """Nodes of the ops that have a gradient. An op that invokes others is tracked by these."""
    by_name = {gradient.name: gradient for gradient in gradients}
    return {op.name: lower_node(op, by_name[op.backward])
            for op in ops if op.backward in by_name and not op.invoke}
