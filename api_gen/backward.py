"""Backward entries: parsed, and checked against the forward operators that they differentiate."""

import re
from collections.abc import Iterable, Sequence

from api_gen import grammar
from api_gen.document import Entry
from api_gen.errors import SpecError, SpecErrors, listing, nearest
from api_gen.model import BackwardOp, Invoke, Op, Signature
from api_gen.parse import (IGNORED, TRANSFORM_KEYS, Reader, check_sizes, read_aliases, read_args,
                           read_files, read_infer_meta, read_invoke, read_kernel, read_optional,
                           read_outputs)

BACKWARD_KEYS = ("backward_op", "forward", "args", "output", "infer_meta", "kernel", "invoke",
                 "composite", "inplace", "optional", "no_need_buffer", "data_transform", "backward",
                 "spmd", *IGNORED)


def parse_backward(files: Iterable[tuple[str, str]]) -> list[BackwardOp]:
    """(name, text) of each file to the gradients, in order. Errors: SpecErrors."""
    return read_files(files, "backward_op", read_backward_op)


def read_backward_op(entry: Entry) -> BackwardOp:
    reader = Reader(entry, BACKWARD_KEYS)
    reader.guard("backward_op", lambda: grammar.check_name(entry.at.op, "an op"))
    args = read_args(reader)
    outputs = read_outputs(reader, sized=False)
    check_sizes(reader, args, outputs)
    args, outputs = read_optional(reader, args, outputs)
    both = (*args.tensors, *args.attrs)
    reader.submap("data_transform", TRANSFORM_KEYS)
    names = [tensor.name for tensor in args.tensors]
    for key in TRANSFORM_KEYS:
        reader.known_names(f"data_transform.{key}", names, "tensor")
    if not any(reader.has(key) for key in ("kernel", "invoke", "composite")):
        raise reader.error("backward_op", "there is no 'kernel', 'invoke' or 'composite'",
                           "one of them must be there")
    return BackwardOp(
        name=entry.at.op, at=entry.at, forward=_forward(reader), tensors=args.tensors,
        attrs=args.attrs, outputs=outputs, infer_meta=read_infer_meta(reader, both, outputs),
        kernel=read_kernel(reader, both, outputs), invoke=read_invoke(reader),
        composite=_composite(reader),
        inplace=read_aliases(reader, "inplace", args.tensors, outputs),
        no_need_buffer=reader.known_names("no_need_buffer", names, "tensor"),
        backward=reader.text("backward"))


def _composite(reader: Reader) -> Invoke | None:
    call = reader.read("composite", grammar.call, None)
    return Invoke(*call) if call else None


def _forward(reader: Reader) -> Signature:
    text = reader.require("forward", "'name (args) -> outputs'")
    match = re.match(r"(\w+)\s*(\(.*\))\s*->\s*(.*)\Z", text, re.DOTALL)
    if not match:
        raise reader.error("forward", f"'{text}' is not a signature",
                           "'name (args) -> outputs' is accepted")
    args = reader.guard("forward", lambda: grammar.arguments(match[2]))
    outputs = reader.guard("forward", lambda: grammar.outputs(match[3], sized=False))
    return Signature(match[1], args.tensors, args.attrs, outputs)


def check_forward_references(ops: Sequence[Op], gradients: Sequence[BackwardOp]) -> None:
    """Each gradient belongs to an op, speaks of its tensors, and each op's gradient is there."""
    forward: dict[str, Op | BackwardOp] = {op.name: op for op in ops}
    forward |= {op.name: op for op in gradients}
    errors = []
    for op in (*ops, *gradients):
        if op.backward and not any(op.backward == gradient.name for gradient in gradients):
            known = [gradient.name for gradient in gradients]
            errors.append(SpecError(op.at, "backward", f"there is no gradient '{op.backward}'"
                                    f"{nearest(op.backward, known)}",
                                    "an entry of the backward files is accepted"))
    for gradient in gradients:
        try:
            _check_gradient(gradient, forward)
        except SpecError as error:
            errors.append(error)
    if errors:
        raise SpecErrors(errors)


def _check_gradient(gradient: BackwardOp, forward: dict[str, Op | BackwardOp]) -> None:
    signature = gradient.forward
    op = forward.get(signature.name)
    if op is None:
        raise SpecError(gradient.at, "forward", f"there is no op '{signature.name}'"
                        f"{nearest(signature.name, forward)}",
                        "an op of the files given is accepted")
    for what, given, there in (("tensors", signature.tensors, op.tensors),
                               ("outputs", signature.outputs, op.outputs)):
        if [x.is_list for x in given] != [x.is_list for x in there]:
            raise SpecError(gradient.at, "forward", f"{what} {listing(x.name for x in given)} are "
                            f"not those of '{op.name}' at {op.at}",
                            f"accepted are {listing(x.name for x in there)}")
    inputs = [tensor.name for tensor in signature.tensors]
    results = [output.name for output in signature.outputs]
    known = [*inputs, *results, *(f"{name}_grad" for name in results)]
    for tensor in gradient.tensors:
        if tensor.name not in known:
            raise SpecError(gradient.at, "args", f"tensor '{tensor.name}' is neither an input, an "
                            f"output nor an output's gradient of '{op.name}'"
                            f"{nearest(tensor.name, known)}", f"accepted are {listing(known)}")
    wanted = [f"{name}_grad" for name in inputs]
    for output in gradient.outputs:
        if output.name not in wanted and output.name != "out":
            raise SpecError(gradient.at, "output", f"'{output.name}' is no input's gradient"
                            f"{nearest(output.name, wanted)}", f"accepted are {listing(wanted)}")
