"""Printed and written results: progress, survivors, the share of caught mutants."""

import json
from collections import Counter
from pathlib import Path
from typing import Optional

from mutation.mutant import Mutant
from mutation.verdict import (CAUGHT, NOT_BUILT, NOT_COMPILED, SAME_CODE, SURVIVED, Verdict,
                              from_json)

_NO_TESTS = ("any test: no program of theirs has it (tools/mutation/mirrors.toml lists the tests "
             "to run)")


def say(text: str) -> None:
    print(f"[mutate] {text}", flush=True)


class Report:
    def __init__(self, wanted: int, about: dict, file: Optional[Path],
                 resume: bool = False):
        self._wanted = wanted
        self._about = about
        self._file = file
        self._earlier = _read(file) if resume else {}
        self.verdicts: list[Verdict] = []

    def earlier(self, mutant: Mutant) -> Optional[Verdict]:
        """The verdict of an interrupted run."""
        entry = self._earlier.get(mutant.id)
        return from_json(mutant, entry) if entry else None

    def add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self._print(verdict)
        self.write()

    def _print(self, verdict: Verdict) -> None:
        count = f"{self.count(CAUGHT) + self.count(SURVIVED)}/{self._wanted}"
        if verdict.result == CAUGHT:
            text = f"caught by {verdict.by}"
        else:
            text = verdict.result.upper() if verdict.result == SURVIVED else verdict.result
        detail = f" ({verdict.detail[:120]})" if verdict.detail else ""
        print(f"[{count}] {text}{detail}: {verdict.mutant} {verdict.seconds:.0f} s", flush=True)
        if verdict.result != NOT_COMPILED:
            print(verdict.mutant.diff(), flush=True)

    def count(self, result: str) -> int:
        return Counter(verdict.result for verdict in self.verdicts)[result]

    @property
    def share(self) -> float:
        """Percent caught of those that count."""
        counted = self.count(CAUGHT) + self.count(SURVIVED)
        return 100.0 * self.count(CAUGHT) / counted if counted else 100.0

    def summary(self) -> str:
        survivors = [verdict for verdict in self.verdicts if verdict.result == SURVIVED]
        lines = [f"survived: {v.mutant}\n{v.mutant.diff()}\n  not noticed by "
                 f"{', '.join(v.ran) or v.detail or _NO_TESTS}" for v in survivors]
        counted = self.count(CAUGHT) + self.count(SURVIVED)
        left_out = [f"{self.count(kind)} {text}" for kind, text in (
            (SAME_CODE, "with the same code"), (NOT_COMPILED, "that do not compile"),
            (NOT_BUILT, "in files that this build has not"))
            if self.count(kind)]
        lines.append(f"caught {self.count(CAUGHT)} of {counted} ({self.share:.1f} %)"
                     + (f"; not counted: {' and '.join(left_out)}" if left_out else ""))
        return "\n".join(lines)

    def write(self) -> None:
        """After each mutant, so that a run that is cut short is not lost."""
        if self._file is None:
            return
        counted = self.count(CAUGHT) + self.count(SURVIVED)
        self._file.write_text(json.dumps({
            **self._about, "caught": self.count(CAUGHT), "counted": counted,
            "mutants": [verdict.as_json() for verdict in self.verdicts]}, indent=1) + "\n",
            encoding="utf-8")


def _read(file: Optional[Path]) -> dict[str, dict]:
    if file is None or not file.exists():
        return {}
    return {entry["id"]: entry for entry in json.loads(file.read_text(encoding="utf-8"))["mutants"]}
