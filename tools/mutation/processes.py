"""Commands with a limit of time and of memory, of which no process survives."""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

_KEPT = 256 * 1024  # bytes of output
_GRACE_S = 5.0


@dataclass
class Outcome:
    """`status` is None where a limit ended the command; `ended_by` names it."""

    status: Optional[int]
    output: str
    seconds: float
    ended_by: str = ""


class _Tail(threading.Thread):
    """Reads a pipe to its end and keeps the last bytes: a mutant may print without end."""

    def __init__(self, pipe, kept: int):
        super().__init__(daemon=True)
        self._pipe = pipe
        self._limit = kept
        self._chunks: deque[bytes] = deque()
        self._size = 0

    def run(self) -> None:
        while chunk := self._pipe.read1(65536):
            self._chunks.append(chunk)
            self._size += len(chunk)
            while self._size - len(self._chunks[0]) >= self._limit:
                self._size -= len(self._chunks.popleft())

    def text(self) -> str:
        self.join(timeout=_GRACE_S)
        return b"".join(self._chunks).decode(errors="replace")


def members(session: int) -> dict[int, int]:
    """Processes of a session, mpirun's children with groups of their own among them, and the bytes
    of memory of each."""
    found = {}
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        if int(fields[3]) == session and fields[0] != "Z":
            found[int(entry.name)] = int(fields[21]) * page
    return found


def _signal_all(session: int, number: int) -> None:
    for pid in members(session):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def end_session(session: int) -> None:
    """Sends SIGTERM, then SIGKILL. mpirun ends its ranks itself at SIGTERM."""
    _signal_all(session, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    while members(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal_all(session, signal.SIGKILL)


def half_of_free_memory() -> int:
    with open("/proc/meminfo", encoding="utf-8") as file:
        values = dict(line.split(":") for line in file)
    return int(values["MemAvailable"].split()[0]) * 1024 // 2


def run(command: Sequence[str], cwd: Path, env: dict[str, str], limit_s: Optional[float] = None,
        limit_bytes: Optional[int] = None, keep_all: bool = False) -> Outcome:
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        tail = _Tail(process.stdout, 1 << 30 if keep_all else _KEPT)
        tail.start()
        try:
            ended_by = _watch(process, begin, limit_s, limit_bytes)
        finally:
            # Ranks and servers that outlive what started them.
            end_session(process.pid)
        process.wait()
        output = tail.text()
    status = None if ended_by else process.returncode
    return Outcome(status, output, time.monotonic() - begin, ended_by)


def _watch(process: subprocess.Popen, begin: float, limit_s: Optional[float],
           limit_bytes: Optional[int]) -> str:
    """Waits; the name of the limit that was met, if one was."""
    looked = begin
    while True:
        try:
            process.wait(timeout=0.05 if time.monotonic() - begin < 1 else 0.25)
            return ""
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if limit_s is not None and now - begin > limit_s:
            return f"hangs, ended after {now - begin:.0f} s"
        if limit_bytes is not None and now - looked > 0.5:
            looked = now
            if sum(members(process.pid).values()) > limit_bytes:
                return "takes all memory"
