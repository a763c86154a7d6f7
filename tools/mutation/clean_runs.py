"""How long tests took with an unchanged tree, kept from run to run: a test whose programs, scripts
and data are the same byte for byte passes again and need not be run."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Optional

from mutation.suites import CtestEntry

# These matter to programs only by what is compiled of them.
_COMPILED = {".cc", ".h", ".cu", ".cuh"}
_NEVER_READ = {".md"}


class CleanRuns:
    """`folder` stores the notes. Without git the state of the tree is unknown, and no notes are kept."""

    def __init__(self, root: Path, folder: Path):
        self._file = folder / "clean_runs.json"
        self._known: dict[str, dict] = {}
        if self._file.exists():
            self._known = json.loads(self._file.read_text(encoding="utf-8"))
        self._all_files, self._data_files = _state(root)

    def seconds(self, test: CtestEntry, programs: dict[str, str]) -> Optional[float]:
        """`programs` are the digests of what it runs."""
        known = self._known.get(test.name)
        return known["seconds"] if known and known["key"] == self._key(test, programs) else None

    def remember(self, test: CtestEntry, programs: dict[str, str], seconds: float) -> None:
        key = self._key(test, programs)
        if key:
            self._known[test.name] = {"key": key, "seconds": round(seconds, 2)}
            self._file.write_text(json.dumps(self._known, indent=1), encoding="utf-8")

    def _key(self, test: CtestEntry, programs: dict[str, str]) -> str:
        tree = self._data_files if programs else self._all_files
        if not tree:
            return ""
        parts = [tree, test.command, sorted(test.environment.items()), sorted(programs.items())]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _state(root: Path) -> tuple[str, str]:
    """Digests of all files of the tree, and of those that are not compiled; empty without git."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "", ""
    everything, data = hashlib.sha256(), hashlib.sha256()
    for name in sorted(filter(None, os.fsdecode(listed).split("\0"))):
        path = root / name
        if path.suffix in _NEVER_READ or not path.is_file():
            continue
        line = f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        everything.update(line)
        if path.suffix not in _COMPILED:
            data.update(line)
    return everything.hexdigest(), data.hexdigest()
