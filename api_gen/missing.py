"""Entries of other projects: which are implemented here, and which are declared only.

    parts = complete(ops, gradients, functions)
    render(parts.ops, parts.gradients, functions=functions)

Errors of this project's own entries are reported here, entry by entry. An op without its shape
function, or in a form that no code is generated for, becomes a function that throws Unimplemented and
reports why; one without a kernel, or with one that takes other arguments, infers shapes and
placements, and only its launch is an error; one without its rule has replicated inputs and outputs.
An unused attribute stays.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from api_gen.backward import check_forward_references
from api_gen.checks import check_attributes, check_generated
from api_gen.errors import SpecError, gather
from api_gen.functions import Functions
from api_gen.lower import gradient_op, check_kernels
from api_gen.model import BackwardOp, KernelAlternative, Op, Rule
from api_gen.nodes import nodes_by_op

# Keys whose fault leaves an operator that can be generated.
_HARMLESS = ("kernel.func", "infer_meta.spmd_rule", "backward_op")


@dataclass(frozen=True)
class Parts:
    ops: tuple[Op, ...]
    gradients: tuple[BackwardOp, ...]
    lacks: dict[str, list[str]]  # by name, of the entries that lack something
    notes: dict[str, list[str]]  # by name, what else there is to say


def complete(ops: Sequence[Op], gradients: Sequence[BackwardOp], functions: Functions) -> Parts:
    lacks: dict[str, list[str]] = {}
    found: list[SpecError] = []
    notes: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    without_rule: set[str] = set()

    def note(error: SpecError) -> None:
        name = error.at.op
        lacks.setdefault(name, []).append(_without_hint(error.wrong))
        if error.key == "infer_meta.spmd_rule":
            without_rule.add(name)
        if error.key not in _HARMLESS:
            missing.setdefault(name, _without_hint(error.reason))

    made = [*ops, *map(gradient_op, gradients)]
    checks = [partial(check_generated, made), partial(functions.check, ops, gradients)]
    if gradients:
        checks.insert(0, partial(check_forward_references, ops, gradients))
    for check in checks:
        gather(check, found)
    for error in found:
        note(error)
    shared: list[SpecError] = []
    gather(lambda: check_kernels([op for op in made if op.name not in missing]), shared)
    for error in shared:
        note(error)

    def marked(entry: Op | BackwardOp) -> Op | BackwardOp:
        infer_meta = entry.infer_meta
        if entry.name in without_rule and infer_meta and isinstance(infer_meta.spmd, Rule):
            infer_meta = replace(infer_meta, spmd=None)
        kernel = entry.kernel
        if kernel and functions.takes_otherwise(entry if isinstance(entry, Op) else gradient_op(entry)):
            kernel = replace(kernel, alternatives=(KernelAlternative(f"{kernel.dense.name}_of_{entry.name}"),))
        return replace(entry, infer_meta=infer_meta, kernel=kernel, missing=missing.get(entry.name, ""))

    parts = Parts(tuple(map(marked, ops)), tuple(map(marked, gradients)), lacks, notes)
    unused: list[SpecError] = []
    gather(partial(_check_attributes, parts), unused)
    for error in unused:
        notes.setdefault(error.at.op, []).append(error.wrong)
    return parts


def _without_hint(text: str) -> str:
    """In foreign entries a name that resembles one of ours is rarely a typing error."""
    return re.sub(r" \(did you mean '[^']*'\?\)", "", text)


def _check_attributes(parts: Parts) -> None:
    made = [*parts.ops, *map(gradient_op, parts.gradients)]
    operators = [op for op in made if op.kernel and not op.missing]
    check_attributes(made, nodes_by_op(operators, parts.gradients))


def report(parts: Parts, faults: Sequence[SpecError], gradient_faults: Sequence[SpecError]) -> str:
    """Returns a line for each entry, and the number of each kind. `faults` are those of entries that could
    not be parsed."""
    lines, counts = [], []
    for what, entries, unread in (("forward", parts.ops, faults),
                                  ("backward", parts.gradients, gradient_faults)):
        lacking = [entry for entry in entries if entry.name in parts.lacks]
        lines += [f"{entry.at}: {entry.name}: " + (
            f"declared only: {'; '.join(parts.lacks[entry.name])}" if entry.name in parts.lacks
            else "; ".join(["generated", *parts.notes.get(entry.name, ())])) for entry in entries]
        lines += [f"{fault.at.file}:{fault.line}: {fault.at.op or 'an entry'}: not understood: key "
                  f"'{fault.key}': {fault.reason}" for fault in unread]
        refused = len({(fault.at.file, fault.at.op or fault.line) for fault in unread})
        counts.append(f"{len(entries) + refused} {what} entries: {len(entries) - len(lacking)} "
                      f"generated, {len(lacking)} declared only, {refused} not understood")
    return "\n".join([*lines, *counts]) + "\n"
