"""One mutant: written, built, shown to the tests one after the other, taken back."""

import time
from typing import Optional

from mutation.baseline import Baseline
from mutation.build import Build
from mutation.cpp_mutants import PREFIX
from mutation.draw import is_cpp
from mutation.journal import Journal
from mutation.mutant import Mutant
from mutation.processes import Outcome
from mutation.suites import Test
from mutation.verdict import CAUGHT, NOT_COMPILED, SAME_CODE, SURVIVED, Verdict

# Above this a file's products are a header's objects, and are only built as tests need them.
_FEW_PRODUCTS = 4


def judge(mutant: Mutant, text: str, build: Build, baseline: Baseline, journal: Journal) -> Verdict:
    """`text` is what the file says without the mutant."""
    begin = time.monotonic()
    baseline.prepare([mutant.path])
    trial = _Trial(mutant, build, baseline)
    changed = (PREFIX if is_cpp(mutant.path) else "") + mutant.apply(text)
    products = [build.folder / product for product in baseline.products(mutant.path)]
    with journal.changed(mutant.path, changed, products):
        verdict = trial.run()
    verdict.seconds = time.monotonic() - begin
    return verdict


class _Trial:
    def __init__(self, mutant: Mutant, build: Build, baseline: Baseline):
        self._mutant = mutant
        self._build = build
        self._baseline = baseline
        self._tests = baseline.ordered_tests(mutant.path)
        self._ran: list[str] = []
        self._products = self._direct_products()
        self._outputs = [out for product in self._products for out in build.graph.outputs(product)]
        # As they are now: the tests' programs have been built.
        self._before = build.digest(self._outputs)

    def _direct_products(self) -> list[str]:
        """Of a source: what is built before any test, to see whether it compiles to something else."""
        needed = self._build.graph.closure([t for test in self._tests for t in test.targets])
        products = [p for p in self._baseline.products(self._mutant.path) if p in needed]
        return products if len(products) <= _FEW_PRODUCTS else []

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
        """A verdict if there is no need of tests any more."""
        if not self._products:
            return None
        made = self._build.make(self._products)
        if made.status != 0:
            return self._not_built(made)
        if self._build.digest(self._outputs) != self._before:
            return None
        return self._verdict(SAME_CODE if is_cpp(self._mutant.path) else SURVIVED)

    def _not_built(self, made: Outcome) -> Verdict:
        """A generator that fails is a bug noticed; a compiler's complaint makes it no bug at all."""
        if not is_cpp(self._mutant.path):
            return self._verdict(CAUGHT, by="the build")
        lines = [line for line in made.output.splitlines() if "error:" in line]
        return self._verdict(NOT_COMPILED, detail=lines[0].strip() if lines else made.output[-300:])

    def _ask(self, tests: list[Test]) -> Verdict:
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
                return self._verdict(CAUGHT, by=test.name, detail=outcome.ended_by)
            self._ran.append(test.name)
        header = is_cpp(self._mutant.path) and not self._products
        return self._verdict(SAME_CODE if header and not reached else SURVIVED)

    def _has_nothing_of_it(self, test: Test) -> bool:
        built = is_cpp(self._mutant.path) or bool(self._products)
        return built and bool(test.targets) and self._baseline.is_unchanged(test.targets)

    def _verdict(self, result: str, by: str = "", detail: str = "") -> Verdict:
        return Verdict(self._mutant, result, by, detail, tuple(self._ran))
