"""Groups of generated code: an op and its gradients share a source; a YAML file shares a header of kernels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from api_gen.lower import gradient_op, kernel_view
from api_gen.model import BackwardOp, Invoke, Op
from api_gen.views import KernelView


@dataclass(frozen=True)
class Group:
    name: str  # of the op
    ops: tuple[Op, ...]  # the op; none where only its gradients are given
    gradients: tuple[BackwardOp, ...]

    @property
    def operators(self) -> tuple[Op, ...]:
        """Entries with a kernel or a call; a gradient composed of other ops has neither."""
        every = (*self.ops, *(g.operator for g in self.gradients if g.operator))
        return tuple(op for op in every if not op.missing)

    @property
    def sources(self) -> str:
        return ", ".join(dict.fromkeys(entry.at.file for entry in (*self.ops, *self.gradients)))

    @property
    def callable(self) -> tuple[Op, ...]:
        """Entries whose functions do more than report what is missing, composed gradients included."""
        return tuple(op for op in (*self.ops, *map(gradient_op, self.gradients)) if not op.missing)

    @property
    def family(self) -> str:
        return family((*self.ops, *self.gradients)[0])

    @property
    def calls(self) -> tuple[Invoke, ...]:
        """Calls that are the entire body of some of its functions."""
        return tuple(op.invoke for op in self.callable if op.invoke)


def groups(ops: Sequence[Op], gradients: Sequence[BackwardOp]) -> list[Group]:
    forward = {gradient.name: gradient.forward.name for gradient in gradients}

    def root(name: str) -> str:
        while name in forward:
            name = forward[name]
        return name

    names = dict.fromkeys([*(op.name for op in ops), *(root(g.name) for g in gradients)])
    return [Group(name, tuple(op for op in ops if op.name == name),
                  tuple(g for g in gradients if root(g.name) == name)) for name in names]


def called_groups(group: Group, every: Sequence[Group]) -> list[str]:
    """Names of the other groups whose functions this one calls by `invoke`."""
    owner = {entry.name: other.name for other in every for entry in (*other.ops, *other.gradients)}
    words = re.findall(r"\w+", " ".join(text for call in group.calls
                                        for text in (call.target, *call.args)))
    found = {owner[name] for word in words for name in (word, word.removesuffix("_")) if name in owner}
    return sorted(found - {group.name})


def family(entry: Op | BackwardOp) -> str:
    """Ops of one YAML file, and of the gradients' file of the same name."""
    return PurePath(entry.at.file).stem


def by_family(operators: Sequence[Op]) -> dict[str, list[Op]]:
    """The ops that reach a kernel."""
    result: dict[str, list[Op]] = {}
    for op in operators:
        if op.kernel and op.infer_meta:
            result.setdefault(family(op), []).append(op)
    return result


def batches(every: Sequence[Group], size: int) -> dict[str, list[Group]]:
    """The callable ops, up to `size` of a family, by the name of the source that compiles them."""
    by: dict[str, list[Group]] = {}
    for group in every:
        if group.callable:
            by.setdefault(group.family, []).append(group)
    return {f"{name}_{first // size}": members[first:first + size]
            for name, members in by.items() for first in range(0, len(members), size)}


def families_of_kernels(group: Group, families: Mapping[str, Sequence[KernelView]]) -> list[str]:
    """The families whose headers declare the kernels that the group launches."""
    names = {kernel_view(op).name for op in group.operators if op.kernel}
    return [family for family, views in families.items() if names & {view.name for view in views}]


def families(operators: Sequence[Op]) -> dict[str, list[KernelView]]:
    """The kernels that each family's header declares: those that its ops are the first to name."""
    seen: set[str] = set()
    result: dict[str, list[KernelView]] = {}
    for op in operators:
        if op.kernel and (view := kernel_view(op)).name not in seen:
            seen.add(view.name)
            result.setdefault(family(op), []).append(view)
    return {name: sorted(views, key=lambda view: view.name) for name, views in sorted(result.items())}
