#!/usr/bin/env python3
"""Runs a Ninja build and shows its progress: the step, the number of steps, and the minutes left.

Usage: build_progress.py BUILD_DIR [--jobs=N] [TARGET...]

On a terminal one line is rewritten; elsewhere a line is printed every 20 seconds at most. What failing steps print passes
through. The exit status is the build's.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
INTERVAL = 1.0 if sys.stdout.isatty() else 20.0
# Seconds to compile a KiB of source, roughly: what is optimised for loops (-O3) takes several times as long.
COST, COST_OF_LOOPS, COST_OF_A_STEP = 0.05, 0.8, 0.5


def source_bytes(source: Path) -> int:
    """The size of a source; of a batch of sources, the sum of theirs."""
    try:
        if "/Unity/" not in str(source):
            return source.stat().st_size
        return sum(Path(name).stat().st_size for name in re.findall(r'#include "([^"]+)"', source.read_text()))
    except OSError:
        return 0


def costs_of(build: Path) -> dict[str, float]:
    """Estimated seconds by object file."""
    try:
        commands = json.loads((build / "compile_commands.json").read_text())
    except (OSError, ValueError):
        return {}
    costs = {}
    for each in commands:
        output = re.search(r" -o (\S+)", each["command"])
        if output:
            loops = re.search(r" -O3 .*-O3 ", each["command"])
            costs[output[1]] = source_bytes(Path(each["file"])) / 1024 * (COST_OF_LOOPS if loops else COST)
    return costs


class Progress:
    """Estimates the time left: by the costs of the steps in a build of everything, by their number otherwise."""

    def __init__(self, build: Path, targets: list[str], steps: int):
        self.costs = costs_of(build)
        inputs = subprocess.run(["cmake", "--build", str(build), "--", "-t", "inputs", *(targets or ["all"])],
                                capture_output=True, text=True, check=False).stdout.split()
        objects = [name for name in inputs if name in self.costs]
        self.total = sum(self.costs[name] for name in objects) + COST_OF_A_STEP * steps
        self.by_cost = 0 < len(objects) <= steps  # else some are built already
        self.started = time.monotonic()
        self.shown = self.started if INTERVAL > 1 else 0.0
        self.done = 0.0

    def cost(self, step: str) -> float:
        return COST_OF_A_STEP + self.costs.get(step.rpartition(" ")[2], 0.0)

    def left(self, number: int, of: int) -> str:
        elapsed = time.monotonic() - self.started
        share = min(self.done / self.total, 1.0) if self.by_cost else number / of
        if elapsed < 5 or share <= 0.01:
            return ""
        minutes = elapsed * (1 - share) / share / 60
        return ", less than a minute left" if minutes < 1 else f", about {minutes:.0f} min left"

    def step(self, number: int, of: int, what: str) -> None:
        self.done += self.cost(what)
        now = time.monotonic()
        if now - self.shown < INTERVAL and number != of:
            return
        self.shown = now
        line = f"step {number} of {of}{self.left(number, of)}"
        if sys.stdout.isatty():
            end = "\n" if number == of else ""
            print(f"\r\x1b[K{line}: {what[:70]}", end=end, flush=True)
        else:
            print(line, flush=True)


def main() -> int:
    build = Path(sys.argv[1])
    command = ["cmake", "--build", str(build)]
    targets = sys.argv[2:]
    if targets and targets[0].startswith("--jobs="):
        command += ["-j", targets.pop(0).removeprefix("--jobs=")]
    if targets:
        command += ["--target", *targets]
    progress = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as run:
        for line in run.stdout:
            match = STEP.match(line)
            if match is None:
                if not line.startswith(("ninja: Entering directory", "ninja: no work to do")):
                    print(line, end="", flush=True)
                continue
            number, of, what = int(match[1]), int(match[2]), match[3]
            if number == 0 or what == "Re-running CMake...":
                continue
            progress = progress or Progress(build, targets, of)
            progress.step(number, of, what)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
