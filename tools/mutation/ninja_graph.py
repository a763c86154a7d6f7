"""The build graph of ninja: its statements and the headers that compilers reported."""

import os
import re
from collections import defaultdict
from pathlib import Path

_PATH = re.compile(r"(?:\$.|[^\s$:|])+")


def _paths(text: str) -> list[str]:
    return [re.sub(r"\$(.)", r"\1", word) for word in _PATH.findall(text)]


class NinjaGraph:
    """Paths of outputs are as ninja writes them, relative to the build folder; sources absolute."""

    def __init__(self, build: Path, statements: str, deps: str):
        self._build = build
        self._inputs: dict[str, list[str]] = {}
        self._first: dict[str, str] = {}  # of an output, the first of its statement
        self._outputs: dict[str, list[str]] = defaultdict(list)
        self._users: dict[str, set[str]] = defaultdict(set)
        self._read_statements(statements)
        self._read_deps(deps)

    def _read_statements(self, text: str) -> None:
        for line in text.replace("$\n", "").replace("${cmake_ninja_workdir}", "").splitlines():
            if not line.startswith("build "):
                continue
            outputs, _, rest = line[len("build "):].partition(": ")
            outputs = list(dict.fromkeys(_paths(outputs.replace(" | ", " "))))
            # What only has to be there before (||) makes nothing anew.
            inputs = _paths(rest.partition(" || ")[0].replace(" | ", " "))[1:]
            for output in outputs:
                self._inputs.setdefault(output, []).extend(inputs)
                self._first[output] = outputs[0]
            self._outputs[outputs[0]] = outputs
            for name in inputs:
                self._users[name].add(outputs[0])

    def _read_deps(self, text: str) -> None:
        output = ""
        for line in text.splitlines():
            if line and not line[0].isspace():
                output = line.partition(": #deps")[0]
            elif line.strip() and output in self._first:
                self._users[self._absolute(line.strip())].add(output)

    def _absolute(self, name: str) -> str:
        # ccache writes ../phi/x.h where the compiler said /tree/phi/x.h.
        return os.path.normpath(self._build / name)

    def is_target(self, path: str) -> bool:
        return self.relative(path) in self._first

    def relative(self, path: str) -> str:
        prefix = f"{self._build}/"
        return path[len(prefix):] if path.startswith(prefix) else path

    def products(self, source: Path) -> list[str]:
        """First outputs of the statements that read this source: its objects, or a stamp. Those of
        configuring are left out."""
        users = self._users.get(str(source), set())
        configured = ("build.ninja", "CMakeFiles/cmake.")
        return sorted(user for user in users if not user.startswith(configured))

    def everything(self) -> list[str]:
        """All targets that depend on something, except those of configuring."""
        configured = set(self.outputs(self._first.get("build.ninja", "")))
        return sorted(set(self._first) - configured)

    def outputs(self, product: str) -> list[str]:
        """All outputs of the statement whose first one this is."""
        return self._outputs.get(product, [product])

    def closure(self, targets: list[str]) -> set[str]:
        """First outputs of all statements that build these targets."""
        seen: set[str] = set()
        waiting = list(targets)
        while waiting:
            name = waiting.pop()
            first = self._first.get(name)
            if first is None or first in seen:
                continue
            seen.add(first)
            waiting.extend(self._inputs[first])
            waiting.extend(self._built_headers(first))
        return seen

    def _built_headers(self, output: str) -> list[str]:
        return self._headers().get(output, [])

    def _headers(self) -> dict[str, list[str]]:
        """Per object, the built files that it includes."""
        if not hasattr(self, "_headers_of"):
            self._headers_of: dict[str, list[str]] = defaultdict(list)
            for name, users in self._users.items():
                relative = self.relative(name)
                if name.startswith("/") and relative in self._first:
                    for user in users:
                        self._headers_of[user].append(relative)
        return self._headers_of
