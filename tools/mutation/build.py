"""The build folder: its tests, its dependencies, and the build of single targets."""

import hashlib
import os
import shutil
from pathlib import Path

from mutation import processes
from mutation.errors import MutationError
from mutation.ninja_graph import NinjaGraph
from mutation.suites import CtestEntry, read_tests


class Build:
    """`folder` is a configured Ninja build of the tree at `root`."""

    def __init__(self, root: Path, folder: Path, jobs: int):
        self.root = root
        self.folder = folder
        self._jobs = jobs
        self.notes = folder / "mutation"
        self.notes.mkdir(parents=True, exist_ok=True)
        # A copy under another name: ninja does not configure anew because of a changed source.
        self._statements = self.notes / "build.ninja"
        self.graph: NinjaGraph = None
        self.tests: list[CtestEntry] = []

    def refresh(self) -> None:
        """Configures if need be, and reads the tests."""
        if not (self.folder / "build.ninja").exists():
            raise MutationError(f"{self.folder} is no configured Ninja build; run tools/test once, "
                                "or pass --build=DIR.")
        self._must("ninja", "-C", str(self.folder), "build.ninja", doing="configuring")
        listing = self._must("ctest", "--test-dir", str(self.folder), "--show-only=json-v1",
                             doing="listing the tests")
        self.tests = read_tests(listing[listing.index("{"):], self.root, self.folder)
        self._read_graph()
        for test in self.tests:
            words = [*test.command, *(word.partition("=")[2] for word in test.command),
                     *test.environment.values()]
            test.targets = [self.graph.relative(w) for w in words if self.graph.is_target(w)]

    def _read_graph(self) -> None:
        shutil.copyfile(self.folder / "build.ninja", self._statements)
        deps = self._must("ninja", "-C", str(self.folder), "-t", "deps",
                          doing="reading dependencies")
        self.graph = NinjaGraph(self.folder, self._statements.read_text(encoding="utf-8"), deps)

    def make_clean(self, targets: list[str]) -> None:
        """From unchanged sources, before the first mutant and after the last."""
        made = self.make(targets)
        if made.status != 0:
            raise MutationError(f"the unchanged tree does not build:\n{made.output[-4000:]}")
        self._read_graph()

    def make(self, targets: list[str]) -> processes.Outcome:
        if not targets:
            return processes.Outcome(0, "", 0.0)
        command = ["ninja", "-C", str(self.folder), "-f", str(self._statements),
                   "-j", str(self._jobs), *dict.fromkeys(targets)]
        return processes.run(command, self.root, dict(os.environ))

    def _must(self, *command: str, doing: str) -> str:
        # No limit on what is kept: these are read by us.
        result = processes.run(command, self.root, dict(os.environ), keep_all=True)
        if result.status != 0:
            raise MutationError(f"{doing} failed:\n{result.output[-4000:]}")
        return result.output

    def everything(self) -> list[Path]:
        """Files that builds write."""
        return [self.folder / name for name in self.graph.everything()]

    def digest(self, outputs: list[str]) -> dict[str, str]:
        """Contents of files of the build."""
        return {name: self._digest_of(self.folder / name) for name in outputs}

    def _digest_of(self, path: Path) -> str:
        if not path.exists():
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
