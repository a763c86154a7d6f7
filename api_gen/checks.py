"""What can be read but not generated: found before any code is made, told with the entry's line."""

import re
from collections.abc import Callable, Mapping, Sequence

from api_gen.errors import SpecError, SpecErrors, listing
from api_gen.model import Attr, BackwardOp, Notation, Op, Rule, TensorArg
from api_gen.nodes import NodeView

# Functions that generated bodies call without a namespace, and names that the headers use.
RUNTIME_NAMES = frozenset(
    "any_distributed place_of place_or dtype_of dtype_or optional_meta optional_dense list_metas "
    "list_dense new_tensor new_tensors new_tensor_unshaped new_distributed new_distributed_list "
    "new_distributed_slots slots_of "
    "dense_out dense_outs local_out local_outs as attrs metas "
    "reshard_inputs launch check_inplace reuse_buffer assign_inplace replace view_of share_buffer "
    "settle_shapes any_requires_grad track without_grad without_bytes check_inplace_tracked check_not_tracked grad "
    "recompute results calls ops rules kernels intermediate composite distributed detail errors std".split())
# Variables of every generated body.
VARIABLES = ("call", "args", "decision", "local", "wanted", "tracked")
# Gradients that a GradMask (api/call/grad_mask.h) can tell apart.
_MASK_BITS = 32


def check_names(ops: Sequence[Op], gradients: Sequence[BackwardOp]) -> None:
    """No function has the name of another or of the runtime. Errors: SpecErrors."""
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
                    entry.at, key, f"function '{name}' is there already, of '{first.name}' at "
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
        errors += [SpecError(op.at, "args", f"nothing takes the attribute '{attr.name}'",
                             "an argument of the shape function, the rule, the kernel, the call or "
                             "the gradient is accepted")
                   for attr in op.attrs if attr.name not in taken]
    if errors:
        raise SpecErrors(errors)


def _taken_by_call(op: Op) -> set[str]:
    """Names of the arguments that what the op calls is given."""
    if op.invoke:
        return set(re.findall(r"[A-Za-z_]\w*", " ".join(op.invoke.args)))
    assert op.infer_meta and op.kernel
    rule, kernel = op.infer_meta.spmd, op.kernel
    params = [*op.infer_meta.params, *(rule.params if isinstance(rule, Rule) else ())]
    if op.view:  # it launches no kernel and makes no output
        sources = []
    else:
        params += kernel.params
        sources = [s.attr for s in (kernel.data_type, kernel.backend) if s and s.attr]
    named = {term.whole for term in rule.inputs} if isinstance(rule, Notation) else set()
    return named.union(arg.name for arg in (*params, *sources) if isinstance(arg, Attr))


def check_generated(ops: Sequence[Op]) -> None:
    """Errors: SpecErrors for what no code is generated for."""
    errors = []
    for op in ops:
        try:
            if not op.missing:
                _check_generated(op)
        except SpecError as error:
            errors.append(error)
    if errors:
        raise SpecErrors(errors)


def _check_generated(op: Op) -> None:
    def refuse(key: str, wrong: str, accepted: str) -> SpecError:
        return SpecError(op.at, key, wrong, accepted)

    reserved = [arg.name for arg in op.args if arg.name in VARIABLES]
    if reserved:
        raise refuse("args", f"'{reserved[0]}' is a name that generated functions use",
                     "any other name is accepted")
    optional = [attr.name for attr in op.attrs if attr.optional]
    if optional:
        raise refuse("optional", f"attribute '{optional[0]}' is optional",
                     "no code is generated for that; give it a default instead")
    _check_lists(op, refuse)
    if op.kernel and not op.kernel.dense:
        names = listing(kernel.name for kernel in op.kernel.alternatives)
        raise refuse("kernel", f"{names}: no alternative for dense tensors",
                     "an alternative of only 'dense' types must be there")
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
    tracked = [alias.input for alias in op.inplace if by_name[alias.input].is_list and op.backward]
    if tracked:
        raise refuse("inplace", f"'{tracked[0]}' is a list of an op with a gradient",
                     "lists are written in place where nothing is tracked")
    if op.view and len(op.outputs) != 1:
        raise refuse("view", "the op has several outputs", "view is generated for a single output")
    if op.view and by_name[op.view[0].input].optional:
        raise refuse("view", f"'{op.view[0].input}' is optional", "a required tensor is accepted")
    if op.data_dependent and (op.inplace or op.view or any(o.is_list for o in op.outputs)):
        raise refuse("data_dependent", "the op is inplace, a view, or has a list output",
                     "outputs of run-time shape are new single tensors")
    if op.kernel and op.kernel.data_type and op.kernel.data_type.complex_of:
        raise refuse("kernel.data_type", "'complex(...)'", "there are no complex kernels")
    if op.selective:
        _check_selective(op, refuse)
    if op.infer_meta and isinstance(op.infer_meta.spmd, Rule):
        shown = [param.name for param in op.infer_meta.spmd.params if isinstance(param, TensorArg)]
        twice = next((name for name in shown if shown.count(name) > 1), None)
        if twice:
            raise refuse("infer_meta.spmd_rule", f"the rule is shown '{twice}' twice",
                         "once is accepted: its answer says how the tensor is placed")


def _check_lists(op: Op, refuse: Callable[[str, str, str], SpecError]) -> None:
    lists = [output.name for output in op.outputs if output.is_list]
    if not op.kernel or not lists:
        return
    written = {alias.output for alias in op.inplace}
    new = [name for name in lists if name not in written]
    if len(lists) > 1 and new:  # how long it is, a decision does not say
        other = next(name for name in lists if name != new[0])
        raise refuse("output", f"'{new[0]}' and '{other}' are lists",
                     "one list is accepted, or several that are all written in place")
    if op.backward and not op.outputs[-1].is_list:
        raise refuse("output", f"list '{lists[0]}' is not the last output of an op with a gradient",
                     "a list may be the only or the last output there")


def _check_selective(op: Op, refuse: Callable[[str, str, str], SpecError]) -> None:
    if len(op.outputs) > _MASK_BITS:
        raise refuse("output", f"there are {len(op.outputs)} gradients",
                     f"up to {_MASK_BITS} are accepted, the bits of a GradMask")
    lists = [output.name for output in op.outputs if output.is_list]
    if op.kernel and lists:
        # A mask has a bit for the list, a decision a slot for each of its tensors.
        raise refuse("output", f"'{lists[0]}' is a list beside other gradients",
                     "a kernel makes a list alone; 'composite' makes it with others")
