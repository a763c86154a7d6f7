"""The command line of `benchmarks/compare`: set up, run in turns, print, and report what failed."""

import argparse
import json
import os
import platform
import signal
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from peers import environment
from peers.configurations import AUTOPHI, PYTORCH, Configuration, runs_of, select
from peers.measure import Measurement, Setting, gemm_flops_per_s, measure
from peers.processes import OthersLoad, RunError
from peers.ratios import Figures, Row, goal_lines, row_of
from peers.reference import GPT, TOKENS_PER_STEP
from peers.table import other_name, ratio_table, run_table

_ROOT = Path(__file__).resolve().parents[2]
_DESCRIPTION = """\
Trains the reference GPT with Autophi and with PyTorch, on one core and on two, and prints one table
of ratios: tokens/s (more is better) and peak resident memory over all ranks (less is better).
PyTorch is installed once, into a separate virtual environment. The exit status is 0 if everything
ran, whether or not the goals are met."""


def say(text: str) -> None:
    print(f"[compare] {text}", file=sys.stderr, flush=True)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {value}")
    return value


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/compare", description=_DESCRIPTION)
    parser.add_argument("--only", default="", metavar="NAME,...",
                        help="these comparisons; NAME* is all that begin so (default: all)")
    parser.add_argument("--side", choices=["both", AUTOPHI, PYTORCH], default="both",
                        help="run only one framework")
    parser.add_argument("--steps", type=positive, default=6,
                        help="timed steps of a run (%(default)s)")
    parser.add_argument("--warm-up", type=positive, default=3,
                        help="steps before them (%(default)s)")
    parser.add_argument("--repeat", type=positive, default=2,
                        help="runs of each configuration, in turns (%(default)s)")
    parser.add_argument("--timeout", type=positive, default=300, metavar="S",
                        help="longest time of one run (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    parser.add_argument("--autophi", type=Path, default=_ROOT / "build" / "bin" / "autophi",
                        metavar="PROGRAM", help="(build/bin/autophi)")
    parser.add_argument("--venv", type=Path, default=environment.default_folder(), metavar="DIR",
                        help="PyTorch's virtual environment (%(default)s)")
    args = parser.parse_args(argv)
    try:
        args.comparisons = select(args.only)
    except ValueError as error:
        parser.error(str(error))
    if args.json and not args.json.absolute().parent.is_dir():
        parser.error(f"--json: no folder {args.json.absolute().parent}")
    return args


class Compare:
    """One run of the command. `failures` are lines for the user; each makes the exit status 1."""

    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.failures: list[str] = []
        self.gemm: dict[str, float] = {}
        self.others_cores = 0.0
        self.seconds = 0.0
        self.setting = Setting(args.autophi, None, args.warm_up, args.steps, args.timeout)

    def run(self) -> int:
        begin = time.monotonic()
        if self.args.side != AUTOPHI:
            self.set_up_torch()
        load = OthersLoad()
        figures = self.measure_all(self.runs())
        self.others_cores = load.cores()
        self.seconds = time.monotonic() - begin
        rows = [row_of(c, figures) for c in self.args.comparisons]
        self.print_all(rows, figures)
        if self.args.json:
            text = json.dumps(self.as_json(rows, figures), indent=2)
            self.args.json.write_text(text + "\n", "utf-8")
        return 1 if self.failures else 0

    def set_up_torch(self) -> None:
        try:
            python = environment.ensure(self.args.venv.absolute(), say)
        except environment.SetupError as error:
            self.failures.append(f"PyTorch could not be set up, so its side did not run: {error}")
            say(self.failures[-1])
            return
        self.setting = replace(self.setting, torch_python=python)
        try:
            self.gemm = gemm_flops_per_s(self.setting)
        except RunError as error:
            self.failures.append(f"matmul's peak: {error}")

    def runs(self) -> list[Configuration]:
        wanted = {AUTOPHI, PYTORCH} if self.args.side == "both" else {self.args.side}
        if self.setting.torch_python is None:
            wanted.discard(PYTORCH)
        return [run for run in runs_of(self.args.comparisons) if run.framework in wanted]

    def measure_all(self, runs: list[Configuration]) -> dict[Configuration, Figures]:
        """Turn by turn, every second turn backwards: neither side always comes first. A failed
        run is not repeated."""
        figures = {run: Figures() for run in runs}
        failed = set()
        for turn in range(self.args.repeat):
            for run in runs if turn % 2 == 0 else reversed(runs):
                measured = None if run in failed else self.try_measure(run)
                if measured is None:
                    failed.add(run)
                figures[run].repeats.append(measured)
        return figures

    def try_measure(self, run: Configuration) -> Measurement | None:
        name = f"{run.framework} {run.name}"
        try:
            measured = measure(run, self.setting)
        except RunError as error:
            self.failures.append(f"{name}: {error}")
            say(f"{name} failed")
            return None
        say(f"{name}: {measured.tokens_per_s:,.0f} tok/s")
        return measured

    def machine(self) -> str:
        text = f"{cpu_model()}, {os.cpu_count()} cores"
        if self.gemm:
            rates = " / ".join(f"{self.gemm[t] / 1e9:,.0f}" for t in ("float32", "bfloat16"))
            text += f"; matmul on one core {rates} GFLOP/s (float32 / bfloat16)"
        return text

    def print_all(self, rows: list[Row], figures: dict[Configuration, Figures]) -> None:
        print(self.machine())
        print(f"reference GPT, {GPT.num_parameters / 1e6:.1f} M parameters, {TOKENS_PER_STEP:,} "
              f"tokens a step; median of {self.args.steps} steps after {self.args.warm_up}, turns: "
              f"{self.args.repeat}; PyTorch {environment.TORCH_VERSION}; {self.seconds:.0f} s")
        print(f"meanwhile others used {self.others_cores:.1f} cores"
              + (": compare ratios, not figures" if self.others_cores >= 0.1 else ""))
        print(f"\n{ratio_table(rows)}\n\n{run_table(figures, self.gemm)}\n")
        if self.args.side == "both":
            print("\n".join(goal_lines(rows)))
        for failure in self.failures:
            print(f"failed: {failure}")

    def as_json(self, rows: list[Row], figures: dict[Configuration, Figures]) -> dict:
        return {
            "machine": {"cpu": cpu_model(), "cores": os.cpu_count(),
                        "others_cores": self.others_cores},
            "torch": environment.TORCH_VERSION,
            "gemm_flops_per_s": self.gemm,
            "flops_per_token": GPT.flops_per_token,
            "comparisons": [{
                "name": row.comparison.name, "beside": other_name(row.other),
                "speed_ratio": row.speed_ratio, "speed_goal": row.comparison.speed_goal,
                "memory_ratio": row.memory_ratio, "memory_goal": row.comparison.memory_goal,
            } for row in rows],
            "runs": [{**asdict(run), "repeats": [m and asdict(m) for m in measured.repeats]}
                     for run, measured in figures.items()],
            "goals": goal_lines(rows),
            "failures": self.failures,
        }


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main(argv: list[str] | None = None) -> int:
    args = parse(sys.argv[1:] if argv is None else argv)
    # Leaves through the same door as Ctrl-C does: what is running is stopped on the way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return Compare(args).run()
    except KeyboardInterrupt:
        say("interrupted")
        return 130
