"""Running the processes of one configuration: until all have ended, or an error with the reason."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_GRACE_S = 5
_TAIL_LINES = 6
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class RunError(Exception):
    """A configuration that did not run; the message has the end of its output."""


@dataclass(frozen=True)
class Command:
    words: list[str]
    env: dict[str, str]  # on top of this process's own
    cwd: Path


def run_together(commands: list[Command], folder: Path, timeout_s: float) -> None:
    """Starts all in parallel and waits. Their output is written to files in `folder`.

    Raises RunError for the first that fails, or if the time is over; the others are then stopped.
    """
    logs = [folder / f"log.{i}" for i in range(len(commands))]
    processes = [_start(command, log) for command, log in zip(commands, logs)]
    try:
        _wait(processes, logs, timeout_s)
    finally:
        _stop([process for process in processes if process.poll() is None])


def _start(command: Command, log: Path) -> subprocess.Popen:
    with log.open("w", encoding="utf-8") as out:
        try:
            return subprocess.Popen(command.words, env={**os.environ, **command.env},
                                    cwd=command.cwd, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            raise RunError(f"cannot start {command.words[0]}: {error.strerror}") from error


def _wait(processes: list[subprocess.Popen], logs: list[Path], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        states = [process.poll() for process in processes]
        for status, log in zip(states, logs):
            if status:
                raise RunError(f"exit status {status}: {tail(log)}")
        if all(status == 0 for status in states):
            return
        if time.monotonic() > deadline:
            raise RunError(f"not finished after {timeout_s:.0f} s: {tail(logs[0])}")
        time.sleep(0.05)


def _stop(processes: list[subprocess.Popen]) -> None:
    """SIGTERM first: mpirun ends its ranks, which have separate sessions."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, sign)
        deadline = time.monotonic() + _GRACE_S
        while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
            time.sleep(0.05)


def tail(log: Path) -> str:
    """The last lines that are not empty."""
    lines = log.read_text("utf-8", "replace").splitlines()
    kept = [line.rstrip() for line in lines if line.strip()][-_TAIL_LINES:]
    return "\n    ".join(kept) or "it printed no output"


class OthersLoad:
    """The mean number of cores that the rest of the machine used since construction."""

    def __init__(self):
        self._begin = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
        own = os.times()
        busy = (user + nice + system + irq + softirq + steal) / _TICKS_PER_S
        return time.monotonic(), busy, sum(own[:4])

    def cores(self) -> float:
        """Child processes count once they have ended."""
        wall, busy, own = (now - then for now, then in zip(self._now(), self._begin))
        return max(0.0, (busy - own) / wall)
