"""Jobs of `autophi run` (docs/running.md), with a dict instead of a file and a report instead of a table.

    report = jobs.run({"mode": "train", "model": {"kind": "gpt", "layers": 2}, "run": {"steps": 4}, ...})
    report["losses"]

One process, or `mpirun -n 8 python program.py`.
"""

import json
import os
import signal
import sys
from typing import Any

from autophi import distributed

# How launchers of MPI say to a process that it is one of several.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C that stopped a job with a checkpoint folder between two steps.

    `report`: the report of the steps before.
    """

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__()
        self.report = report
        steps = report.get("first_step", 1) - 1 + len(report["losses"])
        self.add_note(f"the job ended after step {steps} and is saved; resume=True continues it")


def _join() -> None:
    several = any(int(os.environ.get(name, "1")) > 1 for name in _SIZES)
    if several and not distributed.is_initialized() and distributed.world_size() == 1:
        distributed.init()


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def run(config: dict[str, Any] | str | os.PathLike[str], *, quiet: bool = True, progress: bool = False,
        **options: Any) -> dict[str, Any]:
    """Run a job and return its report, as written by `autophi run --report`, as a dict.

    config   a dict with the keys of a job file, or the path of a job file
    quiet    False: print header, progress and table, like the command
    progress True: print only progress, on sys.stdout of rank 0: a bar on a terminal and in a notebook, else lines
    options  the command's flags: mesh="dp=2,tp=2", resume=True, trace="t.json", metrics="m.jsonl", report="r.json",
             tensorboard="runs/a", check="ops", deadline_s=60, strict_collectives=True; dry_run=True, world_size=16384,
             rank=77 simulates one rank of a job of any size

    Ctrl-C raises KeyboardInterrupt at once. A job with a checkpoint folder first saves after the current step and then
    raises Interrupted with the `report`; a second Ctrl-C does not wait for the save.

    Collective: every rank of the job calls it and gets the same report. ValueError, with the nearest name, for keys and
    options that do not exist or do not fit; errors of the job. Not available on ranks of run_ranks: a job needs the
    process for itself.
    """
    from autophi import _jobs, _progress  # what reads job files is loaded by those who run jobs

    _join()
    if isinstance(config, dict):
        text, name = json.dumps(config, indent=1), "config"
    else:
        name = os.fspath(config)
        with open(name, encoding="utf-8") as file:
            text = file.read()
    if "tensorboard" in options:
        options.setdefault("python", sys.executable)
    flags = {key: _word(value) for key, value in options.items() if value is not None}
    shown = (_progress.write, _progress.shows_bar()) if progress else (None, False)
    report: dict[str, Any] = json.loads(_jobs.report_of(text, name, {"quiet": _word(quiet), **flags}, *shown))
    if report.get("stopped_by_signal") == signal.SIGINT:
        raise Interrupted(report)
    return report


__all__ = ["Interrupted", "run"]
