"""The files with mutants, and a reproducible sample of mutants by seed."""

import random
from collections import Counter
from pathlib import Path
from typing import Iterable, Optional

from mutation import cpp_mutants, python_mutants
from mutation.errors import MutationError
from mutation.mutant import Mutant, mutants_of

_FINDERS = {".cc": cpp_mutants.edits, ".h": cpp_mutants.edits, ".py": python_mutants.edits}
_AT_MOST_PER_FILE = 3


def is_cpp(path: str) -> bool:
    return not path.endswith(".py")


def source_files(root: Path, names: Iterable[str], here: Path) -> list[str]:
    """Files, and those below folders, relative to the root. Tests are not mutated."""
    found = set()
    for name in names:
        path = (here / name).resolve()
        if not path.exists():
            raise MutationError(f"no file or folder '{name}'.")
        if not path.is_relative_to(root):
            raise MutationError(f"'{name}' is not below {root}.")
        files = path.rglob("*") if path.is_dir() else [path]
        found.update(f.relative_to(root).as_posix() for f in files if f.suffix in _FINDERS)
    chosen = sorted(f for f in found if not f.startswith(("tests/", "build/")))
    if not chosen:
        raise MutationError(f"no C++ or Python sources (.cc, .h, .py) in {' '.join(names)}.")
    return chosen


class Files:
    """Mutants of files, computed at first use."""

    def __init__(self, root: Path, paths: list[str]):
        self.paths = paths
        self._root = root
        self._mutants: dict[str, list[Mutant]] = {}

    def text(self, path: str) -> str:
        # newline="": what is written back has the same line ends.
        with open(self._root / path, encoding="utf-8", newline="") as file:
            return file.read()

    def mutants(self, path: str) -> list[Mutant]:
        if path not in self._mutants:
            text = self.text(path)
            self._mutants[path] = mutants_of(path, text, _FINDERS[Path(path).suffix])
        return self._mutants[path]

    def all(self) -> list[Mutant]:
        return [mutant for path in self.paths for mutant in self.mutants(path)]

    def lines(self, path: str) -> int:
        return self.text(path).count("\n") + 1


class Draw:
    """Files in proportion to their lines, but few mutants of each; within a file, kinds evenly."""

    def __init__(self, files: Files, sample: int, seed: int):
        self._files = files
        self._random = random.Random(seed)
        self._left: dict[str, list[Mutant]] = {}
        self._drawn: Counter[str] = Counter()
        self._weights = {path: files.lines(path) for path in files.paths}
        self._limit = max(_AT_MOST_PER_FILE, -(-2 * sample // max(1, len(self._weights))))

    def next(self) -> Optional[Mutant]:
        while open_paths := [p for p in self._weights if self._drawn[p] < self._limit]:
            weights = [self._weights[p] for p in open_paths]
            path = self._random.choices(open_paths, weights)[0]
            left = self._left.setdefault(path, list(self._files.mutants(path)))
            if not left:
                del self._weights[path]
                continue
            kind = self._random.choice(sorted({mutant.kind for mutant in left}))
            mutant = self._random.choice([mutant for mutant in left if mutant.kind == kind])
            left.remove(mutant)
            self._drawn[path] += 1
            return mutant
        return None

    def does_not_count(self, mutant: Mutant) -> None:
        """Another mutant of its file may replace it."""
        self._drawn[mutant.path] -= 1
