"""A supervised job in tests: its folder, what is started, and what is known of it while it runs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "job"))
import launch  # pylint: disable=wrong-import-position

LIMIT_S = 240  # for a machine that is busy with other things: nothing waits for it to pass


def await_true(condition, what):
    until = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"after {LIMIT_S} s not yet: {what}")
        time.sleep(0.02)


class Supervised(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.metrics = self.path("metrics")

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def job_text(self, steps, checkpoint=None, run=None, **top):
        run = {"steps": steps, "micro_batches": 2, "global_batch": 8, **(run or {})}
        checkpoint = {"dir": str(self.path("ckpt")), "every": 3, **(checkpoint or {})}
        return launch.job_text(mode="train", run=run, checkpoint=checkpoint, **top)

    def job(self, *args, **keys):
        return self.folder.write("job.yaml", self.job_text(*args, **keys))

    def unbroken(self, steps, **keys):
        """The loss of each step of a run that nothing happens to."""
        text = json.loads(self.job_text(steps, **keys))
        text.pop("checkpoint")
        text.pop("elastic", None)
        report, _ = self.folder.report(0, json.dumps(text), "--mesh=1")
        return report["losses"]

    def command(self, *words, run=()):
        return [launch.AUTOPHI, "supervise", "--pause_s=0", *map(str, words), "--", f"--metrics={self.metrics}", *run]

    def start(self, *words, run=(), prefix=(), **more):
        process = subprocess.Popen(
            [*prefix, *self.command(*words, run=run)],
            cwd=launch.SOURCE_DIR,
            env={**launch.environment(), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, status):
        outcome = launch.finish(process, LIMIT_S)
        self.assertEqual(outcome.status, status, outcome.output)
        return outcome.output

    def losses(self):
        """Of each step the last line written: after a failure some steps are repeated."""
        lines = [json.loads(line) for line in self.metrics.read_text().splitlines()] if self.metrics.exists() else []
        return {line["step"]: line["loss"] for line in lines}

    def await_steps(self, steps):
        await_true(lambda: len(self.losses()) >= steps, f"{steps} steps")

    def checkpoints(self):
        names = [path.parent.name for path in self.path("ckpt").glob("step-*/model.safetensors.index.json")]
        return sorted(int(name.removeprefix("step-")) for name in names)

    def check_losses(self, expected, tolerance):
        got = self.losses()
        self.assertEqual(sorted(got), list(range(1, len(expected) + 1)))
        for step, loss in got.items():
            self.assertAlmostEqual(loss, expected[step - 1], delta=tolerance * expected[step - 1], msg=f"step {step}")


def ranks_of(job):
    """{rank: process} of a job file's running ranks on this machine."""
    ranks = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        rank = [each for each in variables if each.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if rank and os.fsencode(str(job)) in words:
            ranks[int(re.sub(rb".*=", b"", rank[0]))] = int(folder.name)
    return ranks
