"""Renders view objects to text, and writes files only when they change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from api_gen import cpp, groups, layout, lower, python, reference, rules
from api_gen.compat import CompatName, of_ops
from api_gen.faults import check_entries
from api_gen.functions import Functions
from api_gen.model import BackwardOp, Op
from api_gen.nodes import NodeView, nodes_by_op

# Groups of operators that are declared only, in one source.
_DECLARED_TOGETHER = 40
# Groups of one family that are compiled together: they instantiate the same templates.
_COMPILED_TOGETHER = 8
# Families whose definitions are compiled together.
_DEFINED_TOGETHER = 10


@dataclass(frozen=True)
class Target:
    """The target of the generated code: this library (no name), an operator library, or Python."""

    library: str = ""
    python: bool = False  # what Python sees of them

    @property
    def folder(self) -> str:
        return self.library or "api/generated"

    @property
    def kernels(self) -> str:
        """The folder of the kernels' headers, which include nothing from api/."""
        return f"{self.library}/kernels" if self.library else "phi/generated/kernels"

    @property
    def swept(self) -> tuple[str, ...]:
        if self.python:
            return ("python/generated/*.cc",)
        return (f"{self.folder}/ops/*.h", f"{self.folder}/ops/*.cc", f"{self.folder}/defs/*.cc",
                f"{self.folder}/batches/*.cc", f"{self.folder}/rules/*.cc",
                f"{self.kernels}/*.h")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False)
    environment.filters["zip"] = zip
    environment.filters["quoted"] = lambda text: '"' + text + '"'
    environment.filters["literal"] = cpp.literal
    return environment


@dataclass(frozen=True)
class Outputs:
    """Texts by path below the output folder."""

    texts: dict[str, str]
    target: Target = Target()

    def stale(self, out: Path) -> list[Path]:
        return [out / path for path, text in self.texts.items() if _read(out / path) != text]

    def left_over(self, out: Path) -> list[Path]:
        """Sources of an earlier run that are no longer outputs; none if only headers are generated."""
        if not any(path.endswith(".cc") for path in self.texts):
            return []
        known = {out / path for path in self.texts}
        return sorted(path for pattern in self.target.swept for path in out.glob(pattern) if path not in known)

    def write(self, out: Path) -> list[Path]:
        """The files that changed."""
        changed = self.stale(out)
        for path in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.texts[str(path.relative_to(out))], encoding="utf-8")
        return changed


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def render(ops: Sequence[Op], gradients: Sequence[BackwardOp] = (),
           declare_only: bool = False, functions: Functions = Functions(),
           target: Target = Target(), compat_names: Sequence[CompatName] = (),
           attributes_are_taken: bool = True) -> Outputs:
    """`attributes_are_taken`: an unused attribute is an error. Errors: SpecErrors for entries that cannot
    be generated."""
    check_entries(ops, gradients, functions, attributes_are_taken)
    folder = target.folder
    operators = [op for op in (*ops, *map(lower.gradient_op, gradients)) if op.kernel and not op.missing]
    nodes = nodes_by_op(operators, gradients)
    every = groups.groups(ops, gradients)
    sources = _files((*ops, *gradients))

    families = groups.families(operators)
    texts = {f"{target.kernels}/{name}.h": _text("kernels.h.j2", sources, kernels=views)
             for name, views in families.items()}
    texts[f"{folder}/api.h"] = _text("api.h.j2", sources, target=target, groups=sorted(group.name for group in every))
    for group in every:
        views = _views(group, nodes, target)
        texts[f"{folder}/ops/{group.name}.h"] = _text("op.h.j2", group.sources, **views)
        if group.callable and not declare_only:
            texts[f"{folder}/ops/{group.name}.cc"] = _text(
                "op.cc.j2", group.sources, **views, target=target, calls=groups.called_groups(group, every),
                composites=functions.of_calls(group.calls),
                kernels=groups.families_of_kernels(group, families),
                alias_headers=functions.of_alias_offsets(group.operators), headers=functions.of_shapes(group.operators))
    if not declare_only:
        for name, members in groups.batches(every, _COMPILED_TOGETHER).items():
            texts[f"{folder}/batches/{name}.cc"] = _text(
                "batch.cc.j2", ", ".join(dict.fromkeys(group.sources for group in members)),
                why="Operators that are compiled together: they instantiate the same templates",
                paths=[f"{folder}/ops/{name}.cc" for name in sorted(group.name for group in members)])
        declared = [group for group in every if not group.callable]
        for first in range(0, len(declared), _DECLARED_TOGETHER):
            texts[f"{folder}/batches/declared_only_{first // _DECLARED_TOGETHER}.cc"] = _declared(
                declared[first:first + _DECLARED_TOGETHER], target)
        texts |= _definitions(groups.by_family(operators), functions, folder)
        named = sorted(op.name for group in every for op in group.callable)
        op_defs = lower.lower_op_defs(operators)
        others = of_ops(compat_names, named)
        if target.library:
            signatures = sorted((rules.lower_signature(op, inplace) for group in every
                                 for op, inplace in _called(group, target)), key=lambda s: s.name)
            texts[f"{folder}/library.cc"] = _text("library.cc.j2", sources, names=[s.name for s in signatures],
                                                  signatures=signatures, op_defs=op_defs, target=target,
                                                  compat_names=others)
        else:
            texts[f"{folder}/calls.cc"] = _text("calls.cc.j2", sources, names=named)
            texts[f"{folder}/ops.cc"] = _text("ops.cc.j2", sources, op_defs=op_defs,
                                              compat_names=others)
        texts[f"{folder}/op_reference.md"] = reference.page(ops, gradients, nodes, sources)
    return Outputs(texts, target)


def render_python(ops: Sequence[Op], gradients: Sequence[BackwardOp],
                  functions: Functions = Functions()) -> Outputs:
    """The sources of the binding and the stubs."""
    views = python.bindings(ops, gradients, functions.comments())
    batches = python.batches(views)
    sources = _files((*ops, *gradients))
    texts = {}
    for number, batch in enumerate(batches):
        texts[f"python/generated/ops_{number}.cc"] = _text(
            "python_ops.cc.j2", ", ".join(dict.fromkeys(view.source for view in batch)), views=batch, number=number,
            families=list(dict.fromkeys(view.family for view in batch)), groups=python.groups_of(batch))
    texts["python/generated/table.cc"] = _text(
        "python_table.cc.j2", sources, numbers=range(len(batches)),
        entries=[f"op_entries_{number}()" for number in range(len(batches))])
    views = sorted(views, key=lambda view: view.name)
    for name in ("ops", "_methods"):
        texts[f"python/autophi/{name}.pyi"] = _environment().get_template(
            f"python_{name.strip('_')}.pyi.j2").render(sources=sources, views=views)
    return Outputs(texts, Target(python=True))


def _text(template: str, sources: str, **views: object) -> str:
    return layout.fit(_environment().get_template(template).render(sources=sources, **views))


def _files(entries: Iterable[Op | BackwardOp]) -> str:
    return ", ".join(dict.fromkeys(entry.at.file for entry in entries))


def _views(group: groups.Group, nodes: Mapping[str, NodeView], target: Target) -> dict:
    """The contents of the header and the source of an op and its gradients."""
    entries = (*group.ops, *group.gradients)
    return {
        "op": group.name,
        "functions": [f for op in group.ops for f in lower.lower_functions(op, nodes.get(op.name))],
        "gradients": [f for gradient in group.gradients
                      for f in lower.lower_gradient(gradient, nodes.get(gradient.name))],
        "op_defs": lower.lower_op_defs(group.operators),
        "named_calls": [lower.lower_named_call(op, inplace) for op, inplace in _called(group, target)],
        "nodes": [nodes[entry.name] for entry in entries if entry.name in nodes]}


def _called(group: groups.Group, target: Target) -> list[tuple[Op, bool]]:
    """What is called by name, and whether that is the inplace variant: of a library's operators these are, too, as
    programs that load it have no other way to them."""
    called = [(op, False) for op in group.callable]
    if target.library:
        called += [(op, True) for op in group.callable if lower.has_inplace_variant(op)]
    return called


def _declared(batch: Sequence[groups.Group], target: Target) -> str:
    """The source of functions that only report what is missing; they need no other includes."""
    views = [_views(group, {}, target) for group in batch]
    return _text("declared.cc.j2", _files(entry for g in batch for entry in (*g.ops, *g.gradients)),
                 target=target, names=[group.name for group in batch],
                 functions=[f for view in views for f in (*view["functions"], *view["gradients"])])


def _definitions(families: Mapping[str, Sequence[Op]], functions: Functions, folder: str) -> dict[str, str]:
    """A source for each family, and those that compile several of them: most of what they cost is what
    they include."""
    texts = {f"{folder}/defs/{name}.cc": _definitions_of(members, functions)
             for name, members in families.items()}
    names = sorted(families)
    for first in range(0, len(names), _DEFINED_TOGETHER):
        batch = names[first:first + _DEFINED_TOGETHER]
        texts[f"{folder}/rules/{first // _DEFINED_TOGETHER}.cc"] = _text(
            "batch.cc.j2", _files(op for name in batch for op in families[name]),
            why="Operators' definitions, and the functions that run their rules",
            paths=[f"{folder}/defs/{name}.cc" for name in batch])
    return texts


def _definitions_of(members: Sequence[Op], functions: Functions) -> str:
    defs = lower.lower_op_defs(members)
    headers = {"api/rules/op_rule.h", "phi/core/op_def.h", *functions.of_rules(members),
               *functions.of_shapes(members)}
    if any(op.flops for op in defs):
        headers |= {"phi/core/flop_count.h", "phi/core/launch_args.h", *functions.of_flops(members)}
    return _text("defs.cc.j2", _files(members), headers=sorted(headers), op_defs=defs,
                 rules=rules.lower_rules(members))
