"""Finds entries that can be parsed but not generated, before code is generated, and reports the entry's line."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from api_gen.errors import SpecError, SpecErrors, gather, listing
from api_gen.model import Attr, BackwardOp, Notation, Op, Rule, TensorArg
from api_gen.nodes import NodeView

# Functions that generated bodies call without a namespace, and names that the headers use.
RUNTIME_NAMES = frozenset(
    "any_distributed place_of place_or dtype_of dtype_or optional_meta optional_dense list_metas "
    "list_dense new_tensor new_tensors new_tensor_unshaped new_distributed new_distributed_list "
    "shared_view share_part share_placeholder refuse_writes_if_moved note_write assign_written complex_of "
    "seed_offset_for "
    "dense_out dense_outs local_out local_outs as attrs metas "
    "reshard_inputs launch check_inplace reuse_buffer assign_inplace replace view_of share_buffer "
    "broadcast_dynamic_shapes any_requires_grad track without_grad without_bytes check_inplace_tracked check_not_tracked grad "
    "recompute results calls ops rules kernels intermediate composite distributed detail errors std".split())
# Variables of every generated body.
VARIABLES = ("call", "args", "decision", "local", "wanted", "tracked")
# Gradients that a GradMask (api/call/grad_mask.h) can tell apart.
_MASK_BITS = 32


def check_names(ops: Sequence[Op], gradients: Sequence[BackwardOp]) -> None:
    """Checks that no function has the name of another one or of the runtime. Errors: SpecErrors."""
    taken: dict[str, Op | BackwardOp] = {}
    errors = []
    for entry in (*ops, *gradients):
        key = "op" if isinstance(entry, Op) else "backward_op"
        names = [entry.name]
        if isinstance(entry, Op) and entry.inplace and not entry.name.endswith("_"):
            names.append(f"{entry.name}_")
        for name in names:
            first = taken.setdefault(name, entry)
            if name in RUNTIME_NAMES:
                errors.append(SpecError(entry.at, key, f"'{name}' is a name of the runtime",
                                        "any other name is accepted"))
            elif first is not entry:
                errors.append(SpecError(
                    entry.at, key, f"function '{name}' already exists, for '{first.name}' at "
                    f"{first.at}", "a name may be used once"))
    if errors:
        raise SpecErrors(errors)


def check_attributes(ops: Sequence[Op], nodes: Mapping[str, NodeView]) -> None:
    """Each attribute decides something: the shapes, the placements, the kernel's work, where the
    outputs are made, or the gradient. `nodes`: what tracks an op, by its name. Errors: SpecErrors."""
    errors = []
    for op in ops:
        if op.missing:
            continue
        node = nodes.get(op.name)
        taken = _taken_by_call(op) | set(node.arguments if node else ())
        errors += [SpecError(op.at, "args", f"no function uses the attribute '{attr.name}'",
                             "an argument of the shape function, the rule, the kernel, the call or "
                             "the gradient is accepted")
                   for attr in op.attrs if attr.name not in taken]
    if errors:
        raise SpecErrors(errors)


def _taken_by_call(op: Op) -> set[str]:
    """Names of the arguments that the op passes to the functions that it calls."""
    if op.invoke:
        return set(re.findall(r"[A-Za-z_]\w*", " ".join(op.invoke.args)))
    assert op.infer_meta and op.kernel
    rule, kernel = op.infer_meta.spmd, op.kernel
    params = [*op.infer_meta.params, *(rule.params if isinstance(rule, Rule) else ())]
    if not op.launches:
        sources = []
    else:
        params += kernel.params
        sources = [s.attr for s in (kernel.data_type, kernel.backend) if s and s.attr]
    named = {term.whole for term in rule.inputs} if isinstance(rule, Notation) else set()
    return named.union(arg.name for arg in (*params, *sources) if isinstance(arg, Attr))


def check_generated(ops: Sequence[Op]) -> None:
    """Checks that code can be generated. Errors: SpecErrors."""
    errors: list[SpecError] = []
    for op in ops:
        errors += op.lacks if not op.missing else ()
        if not op.missing and not op.lacks:
            gather(partial(_check_generated, op), errors)
    errors += _circles(ops)
    if errors:
        raise SpecErrors(errors)


def _circles(ops: Sequence[Op]) -> list[SpecError]:
    """Returns an error for each cycle of ops that call each other by `invoke`, at the first op of the cycle."""
    calls = {op.name: [name for name in re.findall(
        r"(?<![\w.:])(?:::)?(?:phi::)?(\w+)\s*\(", f"{op.invoke.target}({', '.join(op.invoke.args)})")]
        for op in ops if op.invoke and not op.missing}
    told: set[str] = set()
    errors = []
    for op in ops:
        circle = _way(calls, op.name, op.name) if op.name in calls and op.name not in told else []
        if circle:
            told.update(circle)
            errors.append(SpecError(op.at, "invoke", " calls ".join(f"'{name}'" for name in circle) +
                                    ": the calls never end", "a call that ends in a kernel is accepted"))
    return errors


def _way(calls: Mapping[str, Sequence[str]], start: str, end: str) -> list[str]:
    """Returns the shortest path of one call or more from `start` to `end`, both included; empty if none exists."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        for name in calls.get(way[-1], ()):
            if name == end:
                return [*way, end]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


def _check_generated(op: Op) -> None:
    def refuse(key: str, wrong: str, accepted: str) -> SpecError:
        return SpecError(op.at, key, wrong, accepted)

    reserved = [arg.name for arg in op.args if arg.name in VARIABLES]
    if reserved:
        raise refuse("args", f"'{reserved[0]}' is a name that generated functions use",
                     "any other name is accepted")
    if op.kernel and not op.kernel.dense:
        names = listing(kernel.name for kernel in op.kernel.alternatives)
        raise refuse("kernel", f"{names}: no alternative for dense tensors",
                     "an alternative of only 'dense' types must be present")
    spmd = op.infer_meta.spmd if op.infer_meta else None
    inferred_from = (*(op.infer_meta.params if op.infer_meta else ()), *(spmd.params if isinstance(spmd, Rule) else ()))
    if any(isinstance(param, Attr) and param.is_drawn for param in inferred_from):
        raise refuse("infer_meta", "shapes or placements follow 'seed', which is drawn if it is left out",
                     "a seed without the default 0 is accepted")
    named = [arg for arg in (op.invoke.args if op.invoke else ()) if re.match(r"\w+\s*=(?!=)", arg)]
    if named:
        raise refuse("composite" if op.invoke.target.startswith("composite::") else "invoke",
                     f"'{named[0]}' names its argument", "values in order are accepted")
    inputs = [arg.name for arg in op.args]
    results = [output.name for output in op.outputs if output.name not in inputs]
    given = [arg for arg in (op.invoke.args if op.invoke else ()) if arg in results]
    if given:
        raise refuse("invoke", f"'{given[0]}' is an output", "functions that are called return theirs")
    by_name = {t.name: t for t in op.tensors}
    lists = [alias.input for alias in op.view if by_name[alias.input].is_list]
    if lists:
        raise refuse("view", f"'{lists[0]}' is a list", "one tensor is accepted")
    absent = [alias.input for alias in op.view if by_name[alias.input].optional]
    if absent and not op.launches:
        raise refuse("view", f"'{absent[0]}' is optional, but it is the kernel's only output",
                     "a required tensor is accepted")
    kept = [output.name for output in op.outputs if output not in op.made_by_kernel]
    counted = [name for factor in (op.kernel.flops if op.kernel else ()) for name in factor.names if name in kept]
    if counted:
        raise refuse("kernel.flops", f"'{counted[0]}' is a view, which is not passed to the kernel",
                     "tensors that the kernel accepts or writes are accepted")
    reshaped = [alias.input for alias in op.kept_views
                if alias in op.inplace and by_name[alias.input].optional]
    if reshaped:
        raise refuse("view", f"'{reshaped[0]}' is optional and written in place",
                     "a required tensor is accepted")
    if op.data_dependent and (op.inplace or op.view or any(o.is_list for o in op.outputs)):
        raise refuse("data_dependent", "the op is inplace, a view, or has a list output",
                     "outputs of run-time shape are new single tensors")
    if op.selective and len(op.outputs) > _MASK_BITS:
        raise refuse("output", f"there are {len(op.outputs)} gradients",
                     f"up to {_MASK_BITS} are accepted, the bits of a GradMask")
    if op.infer_meta and isinstance(op.infer_meta.spmd, Rule):
        shown = [param.name for param in op.infer_meta.spmd.params if isinstance(param, TensorArg)]
        twice = next((name for name in shown if shown.count(name) > 1), None)
        if twice:
            raise refuse("infer_meta.spmd_rule", f"the rule is passed '{twice}' twice",
                         "once is accepted: its result determines the tensor's placements")
