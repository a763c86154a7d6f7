"""Where shape functions and rules are declared: the headers that generated sources include."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from api_gen.errors import SpecError, SpecErrors, nearest
from api_gen.model import Notation, Op

SHAPES, RULES = "phi/infermeta/infermeta.h", "distributed/spmd/rules.h"
FACTORS = "distributed/spmd/factors.h"


class Functions:
    """The functions that headers of some folders declare. Without folders any name is taken, and
    the headers that include all others are included."""

    def __init__(self, folders: Sequence[Path] = ()):
        self.folders = folders
        self.headers: dict[str, str] = {}
        for folder in folders:
            for path in sorted(folder.glob("*.h")):
                text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
                for name in re.findall(r"\b(\w+)\(", text):
                    self.headers.setdefault(name, path.as_posix())

    def check(self, ops: Iterable[Op]) -> None:
        """Errors: SpecErrors for functions that are not there."""
        errors = [self._unknown(op, key, name) for op in ops for key, name in _named(op)
                  if self.folders and name not in self.headers]
        if errors:
            raise SpecErrors(errors)

    def of_shapes(self, ops: Iterable[Op]) -> list[str]:
        return self._headers([op.infer_meta.func for op in ops if op.infer_meta], SHAPES)

    def of_rules(self, ops: Iterable[Op]) -> list[str]:
        rules = [op.infer_meta.spmd for op in ops if op.infer_meta and op.infer_meta.spmd]
        declared = {FACTORS} if any(isinstance(rule, Notation) for rule in rules) else set()
        named = [rule.func for rule in rules if not isinstance(rule, Notation)]
        return sorted(declared.union(self._headers(named, RULES)))

    def _headers(self, names: Sequence[str], all_of_them: str) -> list[str]:
        if not self.folders:
            return [all_of_them] if names else []
        return sorted({self.headers[name] for name in names})

    def _unknown(self, op: Op, key: str, name: str) -> SpecError:
        where = " and ".join(folder.as_posix() for folder in self.folders)
        return SpecError(op.at, key, f"no header of {where} declares '{name}'"
                         f"{nearest(name, self.headers)}", "a function of theirs is accepted")


def _named(op: Op) -> Iterable[tuple[str, str]]:
    if op.infer_meta:
        yield "infer_meta.func", op.infer_meta.func
        if op.infer_meta.spmd and not isinstance(op.infer_meta.spmd, Notation):
            yield "infer_meta.spmd_rule", op.infer_meta.spmd.func
