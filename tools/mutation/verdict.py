"""The result of a mutant."""

from dataclasses import dataclass

from mutation.mutant import Mutant

CAUGHT = "caught"
SURVIVED = "survived"
SAME_CODE = "same code"
NOT_COMPILED = "does not compile"
NOT_BUILT = "not in this build"
_FIELDS = ("result", "by", "detail", "seconds", "output")


@dataclass
class Verdict:
    """`by` is the test that caught it, `detail` how, `output` the end of what it then printed;
    `ran` are the tests that ran and did not detect it."""

    mutant: Mutant
    result: str
    by: str = ""
    detail: str = ""
    ran: tuple[str, ...] = ()
    seconds: float = 0.0
    output: str = ""

    @property
    def counts(self) -> bool:
        return self.result in (CAUGHT, SURVIVED)

    def as_json(self) -> dict:
        mutant = self.mutant
        return {"id": mutant.id, "file": mutant.path, "line": mutant.line, "kind": mutant.kind,
                "before": mutant.before, "after": mutant.after, "ran": list(self.ran),
                **{name: getattr(self, name) for name in _FIELDS}}


def from_json(mutant: Mutant, entry: dict) -> Verdict:
    return Verdict(mutant, ran=tuple(entry["ran"]), **{name: entry[name] for name in _FIELDS})
