"""Finds all faults of the entries of a run before code is generated, and reports them together."""

from collections.abc import Sequence
from functools import partial

from api_gen.backward import check_forward_references
from api_gen.checks import check_attributes, check_generated, check_names
from api_gen.errors import SpecError, SpecErrors, Unread, gather
from api_gen.functions import Functions
from api_gen.lower import check_kernels, gradient_op
from api_gen.model import BackwardOp, Op
from api_gen.nodes import nodes_by_op


def check_entries(ops: Sequence[Op], gradients: Sequence[BackwardOp], functions: Functions,
                  attributes_are_taken: bool = True, earlier: Sequence[SpecError] = ()) -> None:
    """`earlier`: faults of entries that could not be read, which others may need. What may come of another
    fault is not looked for. Errors: SpecErrors."""
    unread = Unread.of(earlier)
    made = [*ops, *map(gradient_op, gradients)]
    errors = list(earlier)
    if gradients:
        gather(partial(check_forward_references, ops, gradients, unread), errors)
    gather(partial(check_names, ops, gradients), errors)
    gather(partial(check_generated, made), errors)
    gather(partial(functions.check, ops, gradients, unread), errors)
    wrong = {error.at.op for error in errors}
    gather(partial(check_kernels, [op for op in made if not op.missing and not op.lacks]), errors)
    if attributes_are_taken:
        sound = [op for op in made if op.name not in wrong and op.backward not in wrong and not unread.any_name]
        kept = [gradient for gradient in gradients if gradient.name not in wrong]
        gather(partial(check_attributes, sound, nodes_by_op([op for op in sound if op.kernel and not op.missing],
                                                            kept)), errors)
    if errors:
        raise SpecErrors(sorted(errors, key=lambda error: (error.at.file, error.line)))
