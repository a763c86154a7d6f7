"""The unchanged tree: which tests can notice a change of a file, that they pass, and how long they
take."""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Callable, Optional

from mutation import processes
from mutation.build import Build
from mutation.clean_runs import CleanRuns
from mutation.draw import is_cpp
from mutation.errors import MutationError
from mutation.suites import Mirrors, CtestEntry, likeliness

# A test may take this many times as long as with the unchanged tree, and so much more.
_LIMIT_FACTOR, _LIMIT_MORE_S = 10, 30
_UNCHANGED_LIMIT_S = 1800
_TELL_EVERY_S = 60
# Above this a file's products are a header's objects, and are only built as tests need them.
_FEW_PRODUCTS = 4
_COMPILE_S = 3.0  # of one source that includes a header, to weigh builds against runs
_COUNTS_LIKE = (0.3, 0.6, 1.0)  # a second of a test, by how likely it is to notice


class Baseline:
    def __init__(self, build: Build, pattern: Optional[str], say: Callable[[str], None]):
        self._build = build
        self._say = say
        self._mirrors = Mirrors(build.tests)
        self._named = None if pattern is None else self._tests_named(pattern)
        self._tests: dict[str, list[CtestEntry]] = {}
        self._clean_runs = CleanRuns(build.root, build.notes)
        self._seconds: dict[str, float] = {}
        self._digests: dict[str, str] = {}
        self._memory = processes.half_of_free_memory()
        self._scratch = Path(tempfile.mkdtemp(prefix="mutate_"))

    def _tests_named(self, pattern: str) -> list[CtestEntry]:
        chosen = [test for test in self._build.tests if re.search(pattern, test.name)]
        if not chosen:
            raise MutationError(f"no test is named like '{pattern}'; ctest -N lists them.")
        return chosen

    def products(self, path: str) -> list[str]:
        return self._build.graph.products(self._build.root / path)

    def direct_products(self, path: str) -> list[str]:
        """The targets of a source that are built before any test, to detect whether the code changes."""
        tests = self.tests_of(path)
        needed = self._build.graph.closure([t for test in tests for t in test.targets])
        products = [product for product in self.products(path) if product in needed or not tests]
        return products if len(products) <= _FEW_PRODUCTS else []

    def outputs(self, path: str) -> list[str]:
        """All files that building the direct targets writes."""
        return [out for product in self.direct_products(path)
                for out in self._build.graph.outputs(product)]

    def is_built(self, path: str) -> bool:
        """Mutants of sources that this build does not read do not count."""
        return not is_cpp(path) or bool(self.products(path))

    def tests_of(self, path: str) -> list[CtestEntry]:
        """The tests that should detect a change of this file, and can; possibly none."""
        if path not in self._tests:
            chosen = self._named if self._named is not None else self._mirrors.of(path)
            if is_cpp(path):
                products = set(self.products(path))
                chosen = [t for t in chosen if products & self._build.graph.closure(t.targets)]
            self._tests[path] = chosen
        return self._tests[path]

    def ordered_tests(self, path: str) -> list[CtestEntry]:
        """Those first that notice most in the least time."""
        products = set(self.products(path))
        # All tests need a source's one object; of a header's many each needs some.
        many = len(products) > 1

        def cost(test: CtestEntry) -> float:
            built = len(products & self._build.graph.closure(test.targets)) if many else 0
            run_s = self._seconds[test.name] * _COUNTS_LIKE[likeliness(test, path)]
            return run_s + _COMPILE_S * built

        return sorted(self.tests_of(path), key=lambda test: (cost(test), test.name))

    def prepare(self, paths: list[str]) -> None:
        """Builds and runs, unchanged, the tests of these files that have not run yet."""
        tests = {test.name: test for path in paths for test in self.tests_of(path)
                 if test.name not in self._seconds}
        targets = {target for test in tests.values() for target in test.targets}
        targets.update(out for path in paths for out in self.outputs(path))
        targets = sorted(targets - set(self._digests))
        if targets:
            self._say(f"building what {len(tests)} tests need, unchanged")
            self._build.make_clean(targets)
            self._digests.update(self._build.digest(targets))
        if tests:
            self._run_all_unchanged(list(tests.values()))

    def _run_all_unchanged(self, tests: list[CtestEntry]) -> None:
        self._say(f"running {len(tests)} tests, unchanged")
        begin = told = time.monotonic()
        known = 0
        for number, test in enumerate(tests):
            known += self._run_unchanged(test)
            if time.monotonic() - told > _TELL_EVERY_S:
                told = time.monotonic()
                self._say(f"{number + 1} have passed")
        self._say(f"they pass, {time.monotonic() - begin:.0f} s"
                  + (f"; {known} were known to" if known else ""))

    def _run_unchanged(self, test: CtestEntry) -> bool:
        """Whether the test is skipped, since it has passed unchanged."""
        programs = {target: self._digests[target] for target in test.targets}
        seconds = self._clean_runs.seconds(test, programs)
        if seconds is not None:
            self._seconds[test.name] = seconds
            return True
        outcome = self._run(test, _UNCHANGED_LIMIT_S)
        if not test.passed(outcome):
            raise MutationError(f"{test.name} fails with the unchanged tree, so it cannot "
                                f"detect mutants. {outcome.ended_by} Its output ends:\n"
                                f"{outcome.output[-3000:]}")
        if test.skipped(outcome):
            self._say(f"{test.name} is skipped on this machine and detects no mutants")
        self._seconds[test.name] = outcome.seconds
        self._clean_runs.remember(test, programs, outcome.seconds)
        return False

    def run(self, test: CtestEntry) -> processes.Outcome:
        return self._run(test, _LIMIT_FACTOR * self._seconds[test.name] + _LIMIT_MORE_S)

    def _run(self, test: CtestEntry, limit_s: float) -> processes.Outcome:
        environment = {**os.environ, **test.environment, "TMPDIR": str(self._scratch)}
        outcome = processes.run(test.command, test.cwd, environment, limit_s, self._memory)
        # What killed tests leave.
        for left in self._scratch.iterdir():
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        return outcome

    def is_unchanged(self, files: list[str]) -> bool:
        """Whether these files of the build equal, byte for byte, those without the mutant."""
        found = self._build.digest(files)
        return all(self._digests[name] == digest for name, digest in found.items())

    def finish(self) -> None:
        """Rebuilds, from unchanged sources, the targets that contain mutants."""
        if self._digests:
            self._build.make_clean(sorted(self._digests))

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
