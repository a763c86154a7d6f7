"""The mutated file, and how it is restored: after each mutant, after an exception or a
signal, and, from a copy in the build folder, at the next start after a SIGKILL.

The original is restored with its time, so no other target is rebuilt because of it (api_gen's
sources configure the project). Targets built meanwhile are newer and would seem to be built from the
original: they are removed, and the next build rebuilds them, fast by ccache.
"""

import fcntl
import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from mutation import signals
from mutation.errors import MutationError


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write_durably(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


class Journal:
    """At most one changed file of the tree at `root`; notes are in `folder`."""

    def __init__(self, root: Path, folder: Path):
        self._root = root
        self._folder = folder
        self._entry = folder / "journal.json"
        self._original = folder / "original"
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = open(folder / "lock", "w", encoding="utf-8")

    def lock(self) -> None:
        """One run at a time in a build folder."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MutationError(f"another tools/mutate runs in {self._folder.parent}; "
                                "wait for it or pass another --build.") from error

    @contextmanager
    def changed(self, path: str, text: str, products: list[Path]) -> Iterator[None]:
        """The file contains `text` within; `products` are the targets that a build may make of it."""
        file = self._root / path
        original, status = file.read_bytes(), file.stat()
        mutant = text.encode()
        _write_durably(self._original, original)
        _write_durably(self._entry, json.dumps({
            "path": path, "atime_ns": status.st_atime_ns, "mtime_ns": status.st_mtime_ns,
            "original": _digest(original), "mutant": mutant.decode(),
            "products": [str(product) for product in products]}).encode())
        try:
            file.write_bytes(mutant)
            yield
        finally:
            with signals.deferred():
                self.restore()

    def restore(self) -> str:
        """Restores the changed file; returns its path, or an empty one."""
        if not self._entry.exists():
            return ""
        entry = json.loads(self._entry.read_text(encoding="utf-8"))
        file = self._root / entry["path"]
        original = self._original.read_bytes()
        if _digest(original) != entry["original"]:
            raise MutationError(f"{self._original} is not the {entry['path']} that was changed; "
                                f"look at both, then remove {self._entry}.")
        self._keep_edits(file, original, entry["mutant"].encode())
        file.write_bytes(original)
        os.utime(file, ns=(entry["atime_ns"], entry["mtime_ns"]))
        # After the source: a build between the two would make the mutant's products again.
        self._remove_newer(entry["products"], self._entry.stat().st_mtime_ns)
        self._entry.unlink()
        return entry["path"]

    def _remove_newer(self, products: list[str], since_ns: int) -> None:
        for product in map(Path, products):
            if product.exists() and product.stat().st_mtime_ns >= since_ns:
                product.unlink()

    def _keep_edits(self, file: Path, original: bytes, mutant: bytes) -> None:
        """Changes by others meanwhile are not lost."""
        now = file.read_bytes() if file.exists() else b""
        if now != original and not mutant.startswith(now):
            kept = self._folder / f"edited_{_digest(now)[:8]}_{file.name}"
            kept.write_bytes(now)
            print(f"{file} was edited while it contained a mutant: the edited text is now in {kept}.",
                  flush=True)
