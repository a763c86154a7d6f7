"""The tests that ctest lists, and which of them mirror a source file."""

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Optional

from mutation.processes import Outcome

TABLE = Path(__file__).with_name("mirrors.toml")
# They build or install the whole project.
_NEVER = {"install_and_find_package"}


@dataclass
class CtestEntry:
    """One ctest entry. `targets` are the programs of the build that it starts."""

    name: str
    folder: str  # of its CMakeLists.txt, relative to the root
    command: list[str]
    cwd: Path
    environment: dict[str, str]
    pass_patterns: list[str] = field(default_factory=list)
    fail_patterns: list[str] = field(default_factory=list)
    skip_status: Optional[int] = None
    will_fail: bool = False
    targets: list[str] = field(default_factory=list)

    def passed(self, outcome: Outcome) -> bool:
        """As ctest judges."""
        if outcome.status is None:
            return False
        if self.skipped(outcome):
            return True
        if any(re.search(pattern, outcome.output, re.DOTALL) for pattern in self.fail_patterns):
            return False
        if self.pass_patterns:
            return any(re.search(pattern, outcome.output, re.DOTALL) for pattern in self.pass_patterns)
        return (outcome.status == 0) != self.will_fail

    def skipped(self, outcome: Outcome) -> bool:
        return self.skip_status is not None and outcome.status == self.skip_status


def _list(value) -> list[str]:
    return value if isinstance(value, list) else [value]


def _folder_of(entry: dict, graph: dict, root: Path) -> str:
    """The folder whose CMakeLists.txt began the calls that added this test."""
    node = graph["nodes"][entry["backtrace"]]
    while "parent" in node:
        node = graph["nodes"][node["parent"]]
    file = Path(graph["files"][node["file"]])
    return file.parent.relative_to(root).as_posix() if file.is_relative_to(root) else ""


def _commands(build: Path) -> dict[str, list[str]]:
    """From the files that CMake writes for ctest, which does not list programs that are not built."""
    found = {}
    for file in build.rglob("CTestTestfile.cmake"):
        for name, words in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$",
                                      file.read_text(encoding="utf-8"), re.MULTILINE):
            quoted = re.findall(r'"((?:\\.|[^"\\])*)"', words)
            found[name] = [re.sub(r"\\(.)", r"\1", word) for word in quoted]
    return found


def read_tests(text: str, root: Path, build: Path) -> list[CtestEntry]:
    """From what `ctest --show-only=json-v1` prints."""
    commands = _commands(build)
    listing = json.loads(text)
    tests = []
    for entry in listing["tests"]:
        command = entry.get("command") or commands.get(entry["name"])
        if entry["name"] in _NEVER or not command:
            continue
        given = {p["name"]: p["value"] for p in entry.get("properties", [])}
        environment = dict(pair.partition("=")[::2] for pair in _list(given.get("ENVIRONMENT", [])))
        tests.append(CtestEntry(
            entry["name"], _folder_of(entry, listing["backtraceGraph"], root), command,
            Path(given.get("WORKING_DIRECTORY", build)), environment,
            _list(given.get("PASS_REGULAR_EXPRESSION", [])),
            _list(given.get("FAIL_REGULAR_EXPRESSION", [])),
            given.get("SKIP_RETURN_CODE"), bool(given.get("WILL_FAIL"))))
    return tests


class Mirrors:
    """The tests of a file: those of its folder's mirror and of the table's row."""

    def __init__(self, tests: list[CtestEntry], table: Path = TABLE):
        self._tests = tests
        self._folders = {test.folder for test in tests}
        self._table: dict[str, dict] = {}
        if table.exists():
            with open(table, "rb") as file:
                self._table = tomllib.load(file)

    def of(self, path: str) -> list[CtestEntry]:
        folder = PurePosixPath(path).parent
        rows = (self._table.get(str(candidate)) for candidate in (folder, *folder.parents))
        entry = next(filter(None, rows), {})
        folders = {self._mirror_of(folder), *entry.get("folders", [])}
        patterns = entry.get("tests", [])
        return [test for test in self._tests if test.folder in folders
                or any(re.search(pattern, test.name) for pattern in patterns)]

    def _mirror_of(self, folder: PurePosixPath) -> str:
        """tests/<folder>, or that of the nearest parent that has tests; empty if none has."""
        for candidate in (folder, *folder.parents):
            mirror = (PurePosixPath("tests") / candidate).as_posix()
            if mirror in self._folders:
                return mirror
        return ""


def likeliness(test: CtestEntry, path: str) -> int:
    """0 for a test that has the file's name, 1 for one of the mirror folder, 2 for the others."""
    stem = PurePosixPath(path).stem
    if re.search(rf"(^|_){re.escape(stem)}(_|$)", test.name):
        return 0
    folder = (PurePosixPath("tests") / PurePosixPath(path).parent).as_posix()
    return 1 if folder == test.folder or folder.startswith(f"{test.folder}/") else 2
