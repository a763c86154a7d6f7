"""Placement rules, inferred without running anything: inputs that a call requires, and its output placements.

    from autophi import spmd
    from autophi.distributed import ProcessMesh, Replicate, Shard
    mesh = ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])
    spmd.infer("matmul", ([64, 32], [Shard(0), Shard(1)]), ([32, 16], [Replicate(), Shard(0)]), mesh=mesh)
    # matmul on mesh dp=2, tp=2 (MatmulInferSpmd)
    #   x    [64, 32]  [Shard(0), Shard(1)]
    #   y    [32, 16]  [Replicate(), Shard(0)]
    #   out  [64, 16]  [Shard(0), Partial('sum')]

A tensor is (shape, placements) or (shape, placements, dtype), a distributed Tensor, None for an omitted optional
tensor, or a list of these for a list argument.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from autophi._autophi import Placement, ProcessMesh, Replicate, Shard, Tensor
from autophi._autophi import spmd as _spmd


class Placements(tuple[Placement, ...]):
    """Placements, one for each mesh dim. Equal to a list of the same placements, such as Tensor.placements."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


@dataclasses.dataclass(frozen=True)
class Rule:
    """Signature of an operator: its tensors, attributes and outputs, and its placement rule."""
    name: str
    rule: str  # a function or declaration; empty: inputs and outputs are replicated
    tensors: tuple[tuple[str, str], ...]  # (name, "one", "optional" or "list")
    attributes: dict[str, str]  # name to kind
    outputs: tuple[str, ...]

    def __repr__(self) -> str:
        words = {"one": "{}", "optional": "{}?", "list": "{}[]"}
        tensors = [words[kind].format(name) for name, kind in self.tensors]
        attributes = [f"{name}: {kind}" for name, kind in self.attributes.items()]
        return f"{self.name}({', '.join(tensors + attributes)}) -> {', '.join(self.outputs)}: {self.rule or 'replicated'}"


@dataclasses.dataclass(frozen=True)
class Layout:
    """One tensor of an inference result.

    `shape` and `dtype` are None for an absent tensor. An extent is None if only the kernel can determine it.
    """
    name: str
    shape: tuple[int | None, ...] | None
    dtype: object | None
    placements: Placements | None
    given: Placements | None = None  # of inputs, as they were

    @property
    def moves(self) -> bool:
        """Whether the call would reshard this input."""
        return self.given is not None and self.placements is not None and self.given != self.placements


@dataclasses.dataclass(frozen=True)
class Answer:
    """Result of an inference: required placements of inputs and resulting placements of outputs."""
    op: str
    rule: str
    mesh: ProcessMesh
    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    conflicts: tuple[str, ...]  # where tensors ask for different things, and a policy decided

    @property
    def moves(self) -> tuple[Layout, ...]:
        """The inputs that would be resharded."""
        return tuple(layout for layout in self.inputs if layout.moves)

    def __getitem__(self, name: str) -> Layout:
        """Return the input or output with that name."""
        for layout in (*self.inputs, *self.outputs):
            if layout.name == name:
                return layout
        raise KeyError(f"{self.op} has {', '.join(t.name for t in (*self.inputs, *self.outputs))}, but no {name}")

    def __repr__(self) -> str:
        return "\n".join([_head(self), *("  " + line for line in _columns(_rows(self))),
                          *(f"  {text}" for text in self.conflicts)])

    def _repr_html_(self) -> str:
        from autophi import _html
        return _html.table(_head(self), ("", "tensor", "shape", "placements", "as given"),
                           [(kind, *row) for kind, row in zip(_kinds(self), _rows(self))], self.conflicts)


def rules() -> dict[str, Rule]:
    """Return the rules of all operators by name, including those of loaded libraries."""
    return {told["name"]: _rule(told) for told in _spmd.rules()}


def rule(op: str) -> Rule:
    """Return the rule of one operator. Errors: LookupError with the nearest names."""
    return _rule(_spmd.rule(op))


def infer(op: str, *inputs: Any, mesh: ProcessMesh | None = None, outputs: Sequence[Any] | None = None,
          **attributes: Any) -> Answer:
    """Infer what a call of `op` with such tensors would do. No tensor is created and no data is sent.

    `outputs`: tensors in the same form as inputs; the result then has the inputs that produce such outputs. `mesh` can
    be omitted if an input is a distributed Tensor. `attributes`: attributes of the operator; omitted ones have their
    defaults.

    Errors: ValueError for shapes, attributes and placements that do not fit; LookupError for an unknown operator.
    """
    known = rule(op)
    if mesh is not None and not isinstance(mesh, ProcessMesh):
        raise TypeError(f"infer('{op}'): mesh must be a ProcessMesh, got {mesh!r}")
    if len(inputs) > len(known.tensors):
        raise TypeError(f"{op} takes {len(known.tensors)} tensors ({_names(known)}), got {len(inputs)}")
    mesh = mesh if mesh is not None else _mesh_of(inputs, op)
    asked = [_argument(value, mesh, name, kind) for value, (name, kind) in zip(inputs, known.tensors)]
    for name, kind in known.tensors[len(inputs):]:
        if kind == "one":
            raise TypeError(f"{op} takes {_names(known)}; {name} is missing")
        asked.append([None] if kind == "optional" else [])
    if outputs is not None and not isinstance(outputs, (list, tuple)):
        raise TypeError(f"outputs must be a list of tensors, got {outputs!r}")
    told_outputs = None if outputs is None else [
        _tensor(value, mesh, f"outputs[{i}]") for i, value in enumerate(outputs)]
    try:
        told = _spmd.infer(op, mesh, asked, attributes, told_outputs)
    except (ValueError, TypeError, LookupError) as error:
        error.add_note(f"in spmd.infer('{op}', ...)")
        raise
    return _answer(known, mesh, asked, told)


# ---- questions ----

# (shape, dtype, placements) of a tensor.
_Tensor = tuple[list[int], Any, list[Placement]]


def _names(known: Rule) -> str:
    return ", ".join(name for name, _ in known.tensors)


def _mesh_of(inputs: Iterable[Any], op: str) -> ProcessMesh:
    flat = [t for value in inputs for t in (value if isinstance(value, list) else [value])]
    for tensor in flat:
        if isinstance(tensor, Tensor) and tensor.process_mesh is not None:
            return tensor.process_mesh
    raise TypeError(f"infer('{op}'): no input is a distributed Tensor; pass mesh=")


def _argument(value: Any, mesh: ProcessMesh, name: str, kind: str) -> list[_Tensor | None]:
    if kind != "list":
        return [_tensor(value, mesh, name)]
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a list of tensors, got {value!r}")
    return [_tensor(element, mesh, f"{name}[{i}]") for i, element in enumerate(value)]


def _tensor(value: Any, mesh: ProcessMesh, name: str) -> _Tensor | None:
    """Return (shape, dtype, placements), or None."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        if value.is_dist and value.process_mesh != mesh:
            raise ValueError(f"{name} is on {value.process_mesh}, but the call is on {mesh}")
        return list(value.shape), value.dtype, list(value.placements or [])
    if not isinstance(value, Sequence) or len(value) not in (2, 3) or not isinstance(value[0], Sequence):
        raise TypeError(f"{name} must be (shape, placements), (shape, placements, dtype), a Tensor or None, got "
                        f"{value!r}")
    shape, placements, dtype = (*value, None)[:3]
    for extent in shape:
        if isinstance(extent, bool) or not hasattr(extent, "__index__") or extent < 0:
            raise TypeError(f"{name}: the shape must be extents, got {extent!r} in {value!r}")
    if not isinstance(placements, Sequence) or not all(isinstance(p, Placement) for p in placements):
        raise TypeError(f"{name}: the placements must be a list with a Shard, Replicate or Partial for each mesh dim, "
                        f"got {placements!r}")
    return [int(extent) for extent in shape], dtype, [_of_tensor(p, len(shape)) for p in placements]


def _of_tensor(placement: Placement, ndim: int) -> Placement:
    """Resolve Shard(-1) to the last tensor dim."""
    if isinstance(placement, Shard) and placement.dim < 0:
        return Shard(placement.dim + ndim, placement.order)
    return placement


# ---- answers ----


def _rule(told: dict[str, Any]) -> Rule:
    return Rule(told["name"], told["rule"], tuple(told["tensors"]), told["attributes"], tuple(told["outputs"]))


def _answer(known: Rule, mesh: ProcessMesh, asked: list[list[_Tensor | None]], told: dict[str, Any]) -> Answer:
    given: list[_Tensor | None] = []
    names: list[str] = []
    for (name, kind), tensors in zip(known.tensors, asked):
        given += tensors
        names += [f"{name}[{i}]" for i in range(len(tensors))] if kind == "list" else [name]
    inputs = tuple(Layout(name, None, None, None) if tensor is None else Layout(
        name, tuple(tensor[0]), tensor[1], _placements(placements), _filled(tensor[2], mesh))
        for name, tensor, placements in zip(names, given, told["inputs"]))
    outputs = tuple(Layout(name, None, None, None) if output is None else Layout(
        name, tuple(output[0]), output[1], _placements(output[2]))
        for name, output in zip(_output_names(known.outputs, len(told["outputs"])), told["outputs"]))
    return Answer(known.name, known.rule, mesh, inputs, outputs, tuple(told["conflicts"]))


def _output_names(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return `count` output names; the last name can denote a list."""
    if count <= len(names):
        return names[:count]
    return (*names[:-1], *(f"{names[-1]}[{i}]" for i in range(count - len(names) + 1)))


def _placements(placements: Iterable[Placement] | None) -> Placements | None:
    return None if placements is None else Placements(placements)


def _filled(placements: Sequence[Placement], mesh: ProcessMesh) -> Placements:
    return Placements((*placements, *[Replicate()] * (mesh.ndim - len(placements))))


def _head(answer: Answer) -> str:
    dims = ", ".join(f"{name}={size}" for name, size in zip(answer.mesh.dim_names, answer.mesh.shape))
    return f"{answer.op} on mesh {dims} ({answer.rule or 'replicated'})"


def _kinds(answer: Answer) -> list[str]:
    return ["needs"] * len(answer.inputs) + ["gives"] * len(answer.outputs)


def _rows(answer: Answer) -> list[tuple[str, str, str, str]]:
    def words(layout: Layout) -> tuple[str, str, str, str]:
        if layout.placements is None or layout.shape is None:
            return layout.name, "absent", "", ""
        shape = "[" + ", ".join("?" if n is None else str(n) for n in layout.shape) + "]"
        moved = f"given as {list(layout.given or ())}" if layout.moves else ""
        return layout.name, shape, str(list(layout.placements)), moved

    return [words(layout) for layout in (*answer.inputs, *answer.outputs)]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0))).rstrip() for row in rows]


__all__ = ["Answer", "Layout", "Placements", "Rule", "infer", "rule", "rules"]
