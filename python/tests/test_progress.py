"""Progress, shown by the code of the command: bars for people, lines for logs, of rank 0 alone."""

import io
import os
import re
import sys

import pytest
import small_gpt

import autophi.distributed as dist
from autophi import jobs, nn, optim, training

LINE = r"step {}/{}  loss \d\.\d{{4}}  [\d,]+ tok/s  [\d.]+ \w+"
JOB = {"mode": "train",
       "model": {"kind": "gpt", "vocab": 256, "seq_len": 16, "d_model": 32, "layers": 2, "heads": 4},
       "data": {"paths": [os.path.dirname(os.path.abspath(__file__))]},
       "run": {"steps": 3, "global_batch": 8}}


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self):
        """It is one."""
        return True


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    """Under mpirun it would be its terminal that counts."""
    monkeypatch.delenv("OMPI_COMM_WORLD_RANK", raising=False)


def trainer():
    return training.Trainer(small_gpt.library_gpt(), nn.cross_entropy, optim.AdamW(lr=3e-3))


def check_bar(text, steps):
    """One line, drawn over itself for each step."""
    before, *drawn = text.split("\r\033[K")
    assert before == "" and len(drawn) == steps and text.endswith("\n") and text.count("\n") == 1
    assert all("━" in line and " tok/s" in line for line in drawn)


def test_a_trainer_in_a_log(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stdout", log)
    one, other = trainer(), trainer()
    one.run(3, lambda number: small_gpt.batches(number, 1), progress=True)
    one.run(2, lambda number: small_gpt.batches(number, 1), progress=True)
    lines = log.getvalue().splitlines()
    assert len(lines) == 5 and one.steps == 5
    for line, (step, of) in zip(lines, [(1, 3), (2, 3), (3, 3), (4, 5), (5, 5)], strict=True):
        assert re.match(LINE.format(step, of), line), line
    other.run(5, lambda number: small_gpt.batches(number, 1))
    assert len(log.getvalue().splitlines()) == 5
    assert other.step(small_gpt.batches(6, 1)).loss == one.step(small_gpt.batches(6, 1)).loss


def test_a_trainer_on_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    trainer().run(4, lambda number: small_gpt.batches(number, 1), progress=True)
    check_bar(screen.getvalue(), 4)


def test_a_loop_of_ones_own(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stdout", log)
    progress = training.Progress(steps=1000, first=500)
    for step in range(501, 1001):
        progress.done(step, 2.5)
    lines = log.getvalue().splitlines()
    assert 20 < len(lines) < 60 and lines[-1].startswith("step 1000/1000  loss 2.5000")
    assert "tok/s" not in log.getvalue() and progress.seconds >= progress.last_step_seconds > 0
    with pytest.raises(ValueError, match="progress: 3 steps with 3 of them completed"):
        training.Progress(3, first=3)


def test_rank_0_speaks(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stdout", log)

    def body():
        training.Progress(2).done(1, 0.5 + dist.rank())
    dist.run_ranks(2, body)
    assert log.getvalue().count("step 1/2  loss 0.5000") == 1 and log.getvalue().count("\n") == 1


def test_a_job(monkeypatch, capfd):
    log, screen = io.StringIO(), Terminal()
    monkeypatch.setattr(sys, "stdout", log)
    jobs.run(JOB, progress=True)
    lines = log.getvalue().splitlines()
    assert len(lines) == 3 and re.match(LINE.format(3, 3), lines[2])
    monkeypatch.setattr(sys, "stdout", screen)
    jobs.run(JOB, progress=True)
    check_bar(screen.getvalue(), 3)
    jobs.run(JOB, progress=True, dry_run=True, world_size=1, rank=0)
    assert screen.getvalue().count("\n") == 1 and capfd.readouterr().out == ""


def test_an_output_that_fails_ends_the_job(monkeypatch):
    class Full(io.StringIO):
        """Has no room."""

        def write(self, text):
            """Never takes any."""
            raise OSError("no room")
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="no room"):
        jobs.run(JOB, progress=True)
    monkeypatch.undo()
    assert len(jobs.run(JOB)["losses"]) == 3
