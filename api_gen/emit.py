"""View objects to text, text to files that are written only when they change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from api_gen import groups, layout, lower, reference, rules
from api_gen.checks import check_attributes, check_names
from api_gen.model import BackwardOp, Op
from api_gen.nodes import nodes_by_op

FOLDER = "api/generated"
KERNELS = "phi/generated/kernels"  # kernels include nothing of api/
_SWEPT = (f"{FOLDER}/ops/*.h", f"{FOLDER}/ops/*.cc", f"{FOLDER}/defs/*.cc", f"{KERNELS}/*.h")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False)
    environment.filters["zip"] = zip
    environment.filters["quoted"] = lambda text: '"' + text + '"'
    return environment


@dataclass(frozen=True)
class Outputs:
    """Texts by path below the output folder."""

    texts: dict[str, str]

    def stale(self, out: Path) -> list[Path]:
        return [out / path for path, text in self.texts.items() if _read(out / path) != text]

    def left_over(self, out: Path) -> list[Path]:
        """Sources of an earlier run that are no outputs any more; none if only headers are made."""
        if not any(path.endswith(".cc") for path in self.texts):
            return []
        known = {out / path for path in self.texts}
        return sorted(path for pattern in _SWEPT for path in out.glob(pattern) if path not in known)

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
           declare_only: bool = False) -> Outputs:
    """Errors: SpecErrors where something cannot be generated."""
    environment = _environment()
    sources = ", ".join(dict.fromkeys(op.at.file for op in (*ops, *gradients)))
    check_names(ops, gradients)
    operators = [*ops, *(gradient.operator for gradient in gradients if gradient.operator)]
    lower.check_kernels(operators)
    nodes = nodes_by_op(operators, gradients)
    check_attributes([*ops, *map(lower.gradient_op, gradients)], nodes)
    every = groups.groups(ops, gradients)
    families = groups.kernel_families(operators)

    def text(template: str, **views: object) -> str:
        return layout.fit(environment.get_template(template).render(**{"sources": sources, **views}))

    texts = {f"{KERNELS}/{name}.h": text("kernels.h.j2", kernels=kernels)
             for name, kernels in groups.families(operators).items()}
    texts[f"{FOLDER}/api.h"] = text("api.h.j2", groups=sorted(group.name for group in every))
    for group in every:
        own = [nodes.get(name) for name in (entry.name for entry in (*group.ops, *group.gradients))]
        views = {
            "sources": group.sources, "op": group.name,
            "functions": [f for op in group.ops for f in lower.lower_functions(op, nodes.get(op.name))],
            "gradients": [f for gradient in group.gradients
                          for f in lower.lower_gradient(gradient, nodes.get(gradient.name))],
            "op_defs": lower.lower_op_defs(group.operators),
            "nodes": [node for node in own if node],
            "composite": group.is_composite, "calls": groups.called_groups(group, every),
            "families": sorted({families[lower.kernel_view(op).name]
                                for op in group.operators if op.kernel})}
        texts[f"{FOLDER}/ops/{group.name}.h"] = text("op.h.j2", **views)
        if not declare_only:
            texts[f"{FOLDER}/ops/{group.name}.cc"] = text("op.cc.j2", **views)
    if not declare_only:
        texts[f"{FOLDER}/ops.cc"] = text("ops.cc.j2", op_defs=lower.lower_op_defs(operators))
        for name, members in groups.by_family(operators).items():
            texts[f"{FOLDER}/defs/{name}.cc"] = text(
                "defs.cc.j2", sources=", ".join(dict.fromkeys(op.at.file for op in members)),
                op_defs=lower.lower_op_defs(members), rules=rules.lower_rules(members))
        texts[f"{FOLDER}/op_reference.md"] = reference.page(ops, gradients, nodes, sources)
    return Outputs(texts)
