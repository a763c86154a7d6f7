"""Jobs as `autophi run` runs them (docs/running.md): a dict instead of a file, the report instead of a table.

    report = jobs.run({"mode": "train", "model": {"kind": "gpt", "layers": 2}, "run": {"steps": 4}, ...})
    report["losses"]

One process, or `mpirun -n 8 python program.py`.
"""

import json
import os
import signal
from typing import Any

from autophi import distributed

# How launchers of MPI say to a process that it is one of several.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C that a job with a checkpoint folder has obeyed between two steps. `report`: of the steps until then."""

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__()
        self.report = report
        steps = report.get("first_step", 1) - 1 + len(report["losses"])
        self.add_note(f"the job has ended after step {steps} and is saved; resume=True goes on")


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
    """Runs a job and gives its report, what `autophi run --report` writes, as a dict.

    config   a dict of the keys of a job file, or the path of a job file
    quiet    False: header, progress and table are printed, as by the command
    progress True: progress alone, on sys.stdout of rank 0: a bar on a terminal and in a notebook, else lines
    options  the command's flags: mesh="dp=2,tp=2", resume=True, trace="t.json", metrics="m.jsonl", report="r.json",
             check="ops", deadline_s=60, strict_collectives=True; dry_run=True, world_size=16384, rank=77 plays one
             rank of a job of any size

    Ctrl-C is a KeyboardInterrupt: at once, or, of a job with a checkpoint folder, after the step that is under way
    has been saved: that is an Interrupted with the `report`. A second Ctrl-C does not wait for that.

    Every rank of the job calls it and gets the same report. ValueError for keys and options that do not exist or
    do not fit, with the nearest name; what the job throws. Not on ranks of run_ranks: a job has its process.
    """
    from autophi import _jobs, _progress  # what reads job files is loaded by those who run jobs

    _join()
    if isinstance(config, dict):
        text, name = json.dumps(config, indent=1), "config"
    else:
        name = os.fspath(config)
        with open(name, encoding="utf-8") as file:
            text = file.read()
    flags = {key: _word(value) for key, value in options.items() if value is not None}
    shown = (_progress.write, _progress.shows_bar()) if progress else (None, False)
    report: dict[str, Any] = json.loads(_jobs.report_of(text, name, {"quiet": _word(quiet), **flags}, *shown))
    if report.get("stopped_by_signal") == signal.SIGINT:
        raise Interrupted(report)
    return report


__all__ = ["Interrupted", "run"]
