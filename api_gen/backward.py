"""Backward entries: parsed, and checked against the forward operators that they differentiate."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from api_gen import grammar
from api_gen.document import Entry
from api_gen.errors import SpecError, SpecErrors, Unread, gather, listing, nearest
from api_gen.model import Attr, BackwardOp, Op, Output, Signature, TensorArg
from api_gen.parse import (IGNORED, Reader, check_transform, read_aliases, read_call, read_files,
                           read_infer_meta, read_kernel, read_signature)

BACKWARD_KEYS = ("backward_op", "forward", "args", "output", "infer_meta", "kernel", "invoke",
                 "composite", "inplace", "optional", "no_need_buffer", "data_transform", "backward",
                 "spmd", "partial", *IGNORED)


def parse_backward(files: Iterable[tuple[str, str]],
                   faults: list[SpecError] | None = None) -> list[BackwardOp]:
    """(name, text) of each file to the gradients, in order. Errors: SpecErrors, or `faults`."""
    return read_files(files, "backward_op", read_backward_op, faults)


def read_backward_op(entry: Entry) -> BackwardOp:
    reader = Reader(entry, BACKWARD_KEYS, is_gradient=True)
    attempt = reader.attempt
    attempt(lambda: _check_name(reader), None)
    args, outputs = read_signature(reader, sized=False)
    both = (*args.tensors, *args.attrs)
    attempt(lambda: check_transform(reader, args.tensors), None)
    _check_body(reader)
    attempt(lambda: read_aliases(reader, "inplace", args.tensors, outputs), ())
    arguments = [*(arg.name for arg in both), *(output.name for output in outputs)]
    calls_kernel = reader.has("kernel")
    forward = attempt(lambda: _forward(reader), None)
    infer_meta = attempt(lambda: read_infer_meta(reader, both, outputs), None) if calls_kernel else None
    kernel = attempt(lambda: read_kernel(reader, both, outputs), None)
    invoke = attempt(lambda: read_call(reader, "invoke", arguments), None)
    # Beside a kernel or a call it is never called.
    composite = None if calls_kernel or reader.has("invoke") else attempt(
        lambda: read_call(reader, "composite", arguments), None)
    no_need_buffer = attempt(lambda: reader.known_names(
        "no_need_buffer", [tensor.name for tensor in args.tensors], "tensor"), ())
    backward = attempt(lambda: reader.text("backward"), None)
    without_effect = reader.check_all_read()
    reader.finish()
    assert forward is not None
    return BackwardOp(
        name=entry.at.op, at=entry.at, forward=forward, tensors=args.tensors, attrs=args.attrs,
        outputs=outputs, infer_meta=infer_meta, kernel=kernel, invoke=invoke, composite=composite,
        no_need_buffer=no_need_buffer, backward=backward, without_effect=without_effect,
        lacks=tuple(reader.lacks))


def _check_name(reader: Reader) -> None:
    reader.guard("backward_op", lambda: grammar.check_name(
        reader.require("backward_op", "a name"), "an op"))
    if reader.entry.at.op.endswith("_"):
        raise reader.error("backward_op", "the name ends in '_'",
                           "a name without it is accepted: no gradient is inplace")


def _check_body(reader: Reader) -> None:
    if not any(reader.has(key) for key in ("kernel", "invoke", "composite")):
        reader.lack("backward_op", "there is no 'kernel', 'invoke' or 'composite'", "one of them must be present")
    if reader.has("kernel") and not reader.has("infer_meta"):
        reader.lack("kernel", "there is no 'infer_meta'", "a kernel and a shape function go together")
    if reader.has("invoke") and reader.has("kernel"):
        reader.faults.append(reader.entry.error("kernel", "the gradient has 'invoke' too",
                                                "it is either an invocation or has a kernel"))


def _forward(reader: Reader) -> Signature:
    text = reader.require("forward", "'name (args) -> outputs'")
    match = re.match(r"(\w+)\s*(\(.*\))\s*->\s*(.*)\Z", text, re.DOTALL)
    if not match:
        raise reader.entry.error("forward", f"'{text}' is not a signature",
                                 "'name (args) -> outputs' is accepted")
    args = reader.guard("forward", lambda: grammar.arguments(match[2]))
    outputs = reader.guard("forward", lambda: grammar.outputs(match[3]))
    return Signature(match[1], args.tensors, args.attrs, outputs)


def check_forward_references(ops: Sequence[Op], gradients: Sequence[BackwardOp],
                             unread: Unread = Unread()) -> None:
    """Checks that each gradient belongs to an op and names its tensors, and that each op's gradient exists
    (or is in `unread`).
    Errors: SpecErrors."""
    by_name = {gradient.name: gradient for gradient in gradients}
    forward: dict[str, Op | BackwardOp] = {**by_name, **{op.name: op for op in ops}}
    checks = [*(partial(_check_backward, op, by_name, forward) for op in forward.values()
                if op.backward in by_name or op.backward not in unread),
              *(partial(_check_gradient, gradient, forward) for gradient in gradients
                if gradient.forward.name in forward or gradient.forward.name not in unread),
              *(partial(_check_is_called, gradient, forward) for gradient in gradients
                if not unread.any_name)]
    errors: list[SpecError] = []
    for check in checks:
        gather(check, errors)
    if errors:
        raise SpecErrors(errors)


def _check_backward(op: Op | BackwardOp, gradients: dict[str, BackwardOp],
                    forward: dict[str, Op | BackwardOp]) -> None:
    if not op.backward:
        return
    gradient = gradients.get(op.backward)
    if gradient is None:
        raise SpecError(op.at, "backward", f"there is no gradient '{op.backward}'"
                        f"{nearest(op.backward, gradients)}",
                        "an entry of the backward files is accepted")
    if gradient.forward.name != op.name and gradient.forward.name in forward:
        raise SpecError(op.at, "backward", f"'{gradient.name}' at {gradient.at} is the gradient of "
                        f"'{gradient.forward.name}'", "an entry whose 'forward' is this op is "
                        "accepted; several ops may share a kernel, but not a gradient")


def _check_gradient(gradient: BackwardOp, forward: dict[str, Op | BackwardOp]) -> None:
    signature = gradient.forward
    op = forward.get(signature.name)
    if op is None:
        raise SpecError(gradient.at, "forward", f"there is no op '{signature.name}'"
                        f"{nearest(signature.name, forward)}",
                        "an op of the files given is accepted")
    _check_signature(gradient, op)
    errors = [*_faulty_tensors(gradient, op), *_faulty_attrs(gradient, op), *_faulty_outputs(gradient, op)]
    if errors:
        raise SpecErrors(errors)


def _faulty_outputs(gradient: BackwardOp, op: Op | BackwardOp) -> Iterable[SpecError]:
    inputs = {f"{said.name}_grad": tensor
              for said, tensor in zip(gradient.forward.tensors, op.tensors)}
    for output in gradient.outputs:
        if output.name not in inputs:
            yield SpecError(gradient.at, "output", f"'{output.name}' is not an input's gradient"
                            f"{nearest(output.name, inputs)}", f"accepted are {listing(inputs)}")
        elif output.is_list != inputs[output.name].is_list:
            yield SpecError(gradient.at, "output", _list_or_not(output.name, inputs[output.name]),
                            "a gradient is what its input is")


def _check_is_called(gradient: BackwardOp, forward: dict[str, Op | BackwardOp]) -> None:
    """Reports, for the op, a gradient that does not exist or belongs to another op."""
    op = forward.get(gradient.forward.name)
    if op is None or any(entry.backward == gradient.name for entry in forward.values()):
        return
    if not op.backward:
        raise SpecError(gradient.at, "backward_op", f"'{op.name}' at {op.at} names no gradient: nothing "
                        "would call this one", f"'backward: {gradient.name}' must be present")
    if op.backward in forward:
        raise SpecError(gradient.at, "backward_op", f"the gradient of '{op.name}' at {op.at} is "
                        f"'{op.backward}': nothing would call this one", "one of the two is accepted")


def _check_signature(gradient: BackwardOp, op: Op | BackwardOp) -> None:
    """Checks that `forward` has the op's arguments and outputs in the same number and order; it may rename them."""
    said = gradient.forward
    for what, given, there, kind in (
            ("tensors", said.tensors, op.tensors, lambda x: x.is_list),
            ("attributes", said.attrs, op.attrs, lambda x: x.type),
            ("outputs", said.outputs, op.outputs, lambda x: x.is_list)):
        if list(map(kind, given)) != list(map(kind, there)):
            raise SpecError(gradient.at, "forward", f"{what} {_declared(given)} are not those of "
                            f"'{op.name}' at {op.at}", f"accepted are {_declared(there)}")
    args = [arg.name for arg in (*op.tensors, *op.attrs)]
    for output in op.outputs:
        if output.name in args:
            raise SpecError(gradient.at, "forward", f"'{output.name}' is an argument and an output "
                            f"of '{op.name}' at {op.at}",
                            "an op with a gradient needs a name for each")


def _declared(items: Iterable[TensorArg | Attr | Output]) -> str:
    def kind(item: TensorArg | Attr | Output) -> str:
        if isinstance(item, Attr):
            return f"{item.type.value} "
        return "Tensor[] " if item.is_list else ""

    return listing(f"{kind(item)}{item.name}" for item in items)


def _faulty_tensors(gradient: BackwardOp, op: Op | BackwardOp) -> Iterable[SpecError]:
    """Checks that the gradient's tensors exist in the forward call, with the same list and optional marks."""
    said = gradient.forward
    known: dict[str, TensorArg | Output] = dict(zip([t.name for t in said.tensors], op.tensors))
    results = dict(zip([o.name for o in said.outputs], op.outputs))
    known |= results | {f"{name}_grad": output for name, output in results.items()}
    may_be_absent = isinstance(op, BackwardOp) and op.selective
    for tensor in gradient.tensors:
        kept = known.get(tensor.name)
        if kept is None:
            yield SpecError(gradient.at, "args", f"tensor '{tensor.name}' is neither an input, an "
                            f"output nor an output's gradient of '{op.name}'"
                            f"{nearest(tensor.name, known)}", f"accepted are {listing(known)}")
            continue
        if tensor.is_list != kept.is_list:
            yield SpecError(gradient.at, "args", _list_or_not(tensor.name, kept),
                            "a tensor is what it is in the forward op")
        absent = kept.optional or (may_be_absent and isinstance(kept, Output))
        if absent and not tensor.optional:
            yield SpecError(gradient.at, "args", f"'{tensor.name}' is required, but '{kept.name}' "
                            f"of '{op.name}' at {op.at} may be absent",
                            f"'optional: {tensor.name}' must be present")


def _list_or_not(name: str, kept: TensorArg | Output) -> str:
    one, other = ("a list", "one tensor") if kept.is_list else ("one tensor", "a list")
    return f"'{name}' is {other}, but '{kept.name}' of the forward op is {one}"


def _faulty_attrs(gradient: BackwardOp, op: Op | BackwardOp) -> Iterable[SpecError]:
    known = {said.name: attr for said, attr in zip(gradient.forward.attrs, op.attrs)}
    for attr in gradient.attrs:
        own = known.get(attr.name)
        if own is None and attr.default is None:
            yield SpecError(gradient.at, "args", f"attribute '{attr.name}' is not one of "
                            f"'{op.name}' and has no default{nearest(attr.name, known)}",
                            f"accepted are {listing(known)}, others with a default")
        if own and own.given.optional and not attr.optional:
            yield SpecError(gradient.at, "args", f"attribute '{attr.name}' is required, but "
                            f"'{own.name}' of '{op.name}' at {op.at} may be absent",
                            f"'optional: {attr.name}' must be present")
        if own and own.type is not attr.type:
            yield SpecError(gradient.at, "args", f"attribute '{attr.name}' is {attr.type.value}, "
                            f"but {own.type.value} in '{op.name}' at {op.at}",
                            f"'{own.type.value} {attr.name}' is accepted")
