"""Starting the autophi command in tests: small job files, mpirun, time limits.

The environment variable AUTOPHI names the command; ctest sets it.
"""

import atexit
import json
import os
import pathlib
import re
import subprocess
import tempfile

import corpus

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[3]
AUTOPHI = os.environ.get("AUTOPHI", str(SOURCE_DIR / "build/bin/autophi"))


def text_folder():
    """A folder with the text of corpus.py, there until the tests end."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    corpus.write(folder.name)
    return folder.name


MODEL = {"vocab": 256, "seq_len": 32, "d_model": 32, "layers": 4, "heads": 4, "seed": 3}
LLAMA = {"kind": "llama", "kv_heads": 2, "ffn": 80}  # beside MODEL
RUN = {"steps": 2, "global_batch": 4, "micro_batches": 2}
DATA = {"paths": [text_folder()], "seed": 5}


def job_text(model=None, run=None, data=None, mesh=None, **top):
    """A job file (JSON is YAML): the small job with some keys changed, as far as a job like this reads it."""
    base = dict(MODEL)
    if top.get("weights"):
        del base["seed"]
    steps, text = ({}, {}) if top.get("mode") == "generate" else (RUN, DATA)
    job = {"model": {**base, **(model or {})}, "run": {**steps, **(run or {})}, "data": {**text, **(data or {})}, **top}
    if mesh:
        job["mesh"] = mesh
    return json.dumps(job, indent=1)


def environment():
    """One thread a rank, and mpirun as root, as in containers."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def command(processes, *args):
    """The command line for this many processes; 0: without mpirun."""
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(processes)]
    return (launcher if processes else []) + [AUTOPHI, *map(str, args)]


class Outcome:
    """What a finished command left: status and all its output, with ends of lines as Python's."""

    def __init__(self, status, output):
        self.status = status
        self.output = output.replace("\r\n", "\n")

    def count(self, text):
        return len(re.findall(re.escape(text), self.output))


def start(processes, *args):
    return subprocess.Popen(
        command(processes, *args),
        cwd=SOURCE_DIR,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, limit_s):
    """Waits for the command; a job that does not end in time is a failed test."""
    try:
        output, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        output, _ = process.communicate()
        raise AssertionError(f"not over after {limit_s} s: {' '.join(process.args)}\n{output}") from None
    return Outcome(process.returncode, output)


def run(processes, *args, limit_s=120):
    return finish(start(processes, *args), limit_s)


class Folder(tempfile.TemporaryDirectory):
    """A temporary folder for job files and reports."""

    def write(self, name, text):
        path = pathlib.Path(self.name) / name
        path.write_text(text)
        return path

    def report(self, processes, text, *flags, limit_s=120):
        """Runs a job to its end; returns its report and its output."""
        job = self.write("job.yaml", text)
        report = pathlib.Path(self.name) / "report.json"
        report.unlink(missing_ok=True)
        outcome = run(processes, "run", job, f"--report={report}", *flags, limit_s=limit_s)
        if outcome.status != 0 or not report.exists():
            raise AssertionError(f"status {outcome.status}:\n{outcome.output}")
        return json.loads(report.read_text()), outcome
