"""One mutant: written, built, tested by one test after the other, restored."""

import time
from typing import Optional

from mutation.baseline import Baseline
from mutation.build import Build
from mutation.cpp_mutants import PREFIX
from mutation.draw import is_cpp
from mutation.journal import Journal
from mutation.mutant import Mutant
from mutation.processes import Outcome
from mutation.suites import CtestEntry
from mutation.verdict import CAUGHT, NOT_BUILT, NOT_COMPILED, SAME_CODE, SURVIVED, Verdict


def judge(mutant: Mutant, text: str, build: Build, baseline: Baseline, journal: Journal) -> Verdict:
    """`text` is the file's text without the mutant."""
    begin = time.monotonic()
    if not baseline.is_built(mutant.path):
        return Verdict(mutant, NOT_BUILT)
    baseline.prepare([mutant.path])
    trial = _Trial(mutant, build, baseline)
    changed = (PREFIX if is_cpp(mutant.path) else "") + mutant.apply(text)
    with journal.changed(mutant.path, changed, build.everything()):
        verdict = trial.run()
    verdict.seconds = round(time.monotonic() - begin, 1)
    return verdict


class _Trial:
    def __init__(self, mutant: Mutant, build: Build, baseline: Baseline):
        self._mutant = mutant
        self._build = build
        self._baseline = baseline
        self._tests = baseline.ordered_tests(mutant.path)
        self._ran: list[str] = []
        self._products = baseline.direct_products(mutant.path)
        self._outputs = baseline.outputs(mutant.path)

    def run(self) -> Verdict:
        if is_cpp(self._mutant.path):
            return self._build_products() or self._ask(self._tests)
        # Scripts first: they need no build.
        scripts = [test for test in self._tests if not test.targets]
        programs = [test for test in self._tests if test.targets]
        verdict = self._ask(scripts)
        if verdict.result == CAUGHT:
            return verdict
        return self._build_products() or self._ask(programs)

    def _build_products(self) -> Optional[Verdict]:
        """A verdict if no test has to run."""
        if not self._products:
            return None
        made = self._build.make(self._products)
        if made.status != 0:
            return self._not_built(made)
        if not self._baseline.is_unchanged(self._outputs):
            return None
        if is_cpp(self._mutant.path):
            return self._verdict(SAME_CODE)
        return self._verdict(SURVIVED, detail="what it generates is the same")

    def _not_built(self, made: Outcome) -> Verdict:
        """A generator that fails is a detected bug; a mutant that does not compile does not count."""
        if not is_cpp(self._mutant.path):
            return self._verdict(CAUGHT, by="the build")
        lines = [line for line in made.output.splitlines() if "error:" in line]
        return self._verdict(NOT_COMPILED, detail=lines[0].strip() if lines else made.output[-300:])

    def _ask(self, tests: list[CtestEntry]) -> Verdict:
        reached = False
        for test in tests:
            made = self._build.make(test.targets)
            if made.status != 0:
                return self._not_built(made)
            if self._has_nothing_of_it(test):
                continue
            reached = True
            outcome = self._baseline.run(test)
            if not test.passed(outcome):
                return self._verdict(CAUGHT, test.name, outcome.ended_by, outcome.output)
            self._ran.append(test.name)
        header = is_cpp(self._mutant.path) and not self._products
        return self._verdict(SAME_CODE if header and tests and not reached else SURVIVED)

    def _has_nothing_of_it(self, test: CtestEntry) -> bool:
        built = is_cpp(self._mutant.path) or bool(self._products)
        return built and bool(test.targets) and self._baseline.is_unchanged(test.targets)

    def _verdict(self, result: str, by: str = "", detail: str = "", output: str = "") -> Verdict:
        return Verdict(self._mutant, result, by, detail, tuple(self._ran), output=output[-2000:])
