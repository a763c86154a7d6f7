"""View objects to text, text to files that are written only when they change."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from api_gen import layout, lower, reference, rules
from api_gen.checks import check_attributes, check_names
from api_gen.model import BackwardOp, Op
from api_gen.nodes import nodes_by_op

FOLDER = "api/generated"
KERNEL_SIGNATURES = "phi/generated/kernel_signatures.h"  # kernels include nothing of api/
_OPS_PER_FILE = 12


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False)
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
        return sorted(path for pattern in ("api_*.cc", "backward_*.cc")
                      for path in (out / FOLDER).glob(pattern) if path not in known)

    def write(self, out: Path) -> list[Path]:
        """The files that changed."""
        changed = self.stale(out)
        for path in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.texts[str(path.relative_to(out))], encoding="utf-8")
        return changed


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def file_count(ops: int) -> int:
    """A power of two, so that most ops keep their file as ops are added."""
    count = 1
    while count * _OPS_PER_FILE < ops:
        count *= 2
    return count


def file_of(op: str, count: int) -> int:
    return zlib.crc32(op.encode()) % count


def _parts(names: Sequence[str]) -> list[list[str]]:
    """The names of each file."""
    count = file_count(len(names)) if names else 0
    return [[name for name in names if file_of(name, count) == k] for k in range(count)]


def render(ops: Sequence[Op], gradients: Sequence[BackwardOp] = (),
           declare_only: bool = False) -> Outputs:
    """Errors: SpecErrors where something cannot be generated."""
    environment = _environment()
    sources = ", ".join(dict.fromkeys(op.at.file for op in (*ops, *gradients)))
    check_names(ops, gradients)
    operators = [*ops, *(gradient.operator for gradient in gradients if gradient.operator)]
    nodes = nodes_by_op(operators, gradients)
    check_attributes([*ops, *map(lower.gradient_op, gradients)], nodes)
    functions = [f for op in ops for f in lower.lower_functions(op, nodes.get(op.name))]
    backward = [f for gradient in gradients
                for f in lower.lower_gradient(gradient, nodes.get(gradient.name))]
    views = {"sources": sources, "kernels": lower.lower_kernels(operators),
             "op_defs": lower.lower_op_defs(operators), "functions": functions}

    def text(template: str, **more: object) -> str:
        return layout.fit(environment.get_template(template).render(**{**views, **more}))

    texts = {path: text(f"{Path(path).name}.j2")
             for path in (KERNEL_SIGNATURES, f"{FOLDER}/ops.h", f"{FOLDER}/api.h")}
    texts[f"{FOLDER}/backward_api.h"] = text("backward_api.h.j2", functions=backward)
    if not declare_only:
        texts[f"{FOLDER}/ops.cc"] = text("ops.cc.j2")
        texts[f"{FOLDER}/op_rules.cc"] = text("op_rules.cc.j2", rules=rules.lower_rules(operators))
        for kind, entries, made in (("api", ops, functions), ("backward", gradients, backward)):
            for k, names in enumerate(_parts([entry.name for entry in entries])):
                texts[f"{FOLDER}/{kind}_{k}.cc"] = text(
                    f"{kind}.cc.j2", functions=[f for f in made if f.op in names],
                    nodes=[nodes[name] for name in names if name in nodes])
        texts[f"{FOLDER}/op_reference.md"] = reference.page(ops, gradients, nodes, sources)
    return Outputs(texts)
