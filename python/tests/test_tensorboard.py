"""Event files have the numbers of the steps: of a trainer, of a job, and of a file of metrics."""

import json
import os
import subprocess
import sys

import pytest
import small_gpt
from test_jobs import JOB

import autophi as ap
from autophi import jobs, nn, optim, training

pytest.importorskip("tensorboard", reason="tensorboard is not installed here")
COMMAND = os.environ.get("AUTOPHI_COMMAND")


def scalars(folder):
    """Return {name: {step: value}} of the event files in a folder."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util
    events = EventAccumulator(str(folder))
    events.Reload()
    return {name: {event.step: float(tensor_util.make_ndarray(event.tensor_proto)) for event in events.Tensors(name)}
            for name in events.Tags()["tensors"]}


def test_a_trainer(tmp_path):
    from autophi.tensorboard import StepWriter
    net = small_gpt.library_gpt()
    ids = ap.tensor([[(7 * row + column) % 256 for column in range(16)] for row in range(4)])
    trainer = training.Trainer(net, nn.cross_entropy, optim.AdamW(lr=optim.cosine(1e-2, total_steps=3)))
    results = []
    trainer.on_step(lambda step, result: results.append(result))
    with StepWriter(tmp_path / "runs" / "a") as events:
        trainer.on_step(events)
        trainer.run(3, lambda number: (ids, ids))
        events.write(3, {"validation": 0.5})
    written = scalars(tmp_path / "runs" / "a")
    assert written["validation"] == {3: 0.5}
    for name, attribute in (("loss", "loss"), ("learning_rate", "learning_rate"), ("gradient_norm", "grad_norm")):
        want = {step: getattr(result, attribute) for step, result in enumerate(results, 1)}
        assert written[name] == pytest.approx(want, rel=1e-6)


def test_a_job(tmp_path):
    report = jobs.run(JOB, tensorboard=str(tmp_path / "runs"), metrics=str(tmp_path / "m.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    written = scalars(tmp_path / "runs")
    assert written["loss"] == pytest.approx(dict(enumerate(report["losses"], 1)), rel=1e-6)
    assert written["learning_rate"] == pytest.approx({line["step"]: line["lr"] for line in lines}, rel=1e-6)
    peaks = {line["step"]: line["peak_tensor_bytes"] for line in lines}
    assert written["peak_tensor_bytes"] == pytest.approx(peaks, rel=1e-6)


def test_metrics_from_standard_input(tmp_path):
    jobs.run(JOB, metrics=str(tmp_path / "m.jsonl"))
    with open(tmp_path / "m.jsonl", encoding="utf-8") as metrics:
        subprocess.run([sys.executable, "-m", "autophi.tensorboard", str(tmp_path / "runs")], stdin=metrics, check=True)
    assert list(scalars(tmp_path / "runs")["tokens_per_s"]) == [1, 2, 3]
    done = subprocess.run([sys.executable, "-m", "autophi.tensorboard", str(tmp_path / "runs")], input='{"stap": 1}\n',
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and 'line 1 is no line of metrics: {"stap": 1}' in done.stderr


@pytest.mark.skipif(not COMMAND, reason="AUTOPHI_COMMAND does not say where the command autophi is")
def test_the_command_on_two_processes(tmp_path):
    (tmp_path / "job.yaml").write_text(json.dumps(JOB))
    mpirun = os.environ.get("AUTOPHI_MPIRUN") or "mpirun"
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2",
               COMMAND, "run", str(tmp_path / "job.yaml"), "--mesh=dp=2", "--quiet",
               f"--python={sys.executable}", f"--tensorboard={tmp_path / 'runs'}", f"--report={tmp_path / 'r.json'}"]
    subprocess.run(command, check=True, timeout=120, stdin=subprocess.DEVNULL)
    report = json.loads((tmp_path / "r.json").read_text())
    assert scalars(tmp_path / "runs")["loss"] == pytest.approx(dict(enumerate(report["losses"], 1)), rel=1e-6)
    assert len(os.listdir(tmp_path / "runs")) == 1  # of rank 0


def test_without_tensorboard_a_job_does_not_start(tmp_path):
    with pytest.raises(RuntimeError, match="(?s)--tensorboard=.*cannot start '/none': No such file.*--python=PATH"):
        jobs.run(JOB, tensorboard=str(tmp_path), python="/none")
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="(?s)--tensorboard=.*File exists"):
        jobs.run(JOB, tensorboard=str(tmp_path / "file"))
    (tmp_path / "tensorboard.py").write_text("raise ImportError\n")
    program = f"from autophi import jobs; jobs.run({JOB!r}, tensorboard={str(tmp_path / 'runs')!r})"
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "pip install 'autophi[tensorboard]'" in done.stderr
    with pytest.raises(ValueError, match="--tensorboard requires a real run"):
        jobs.run(JOB, dry_run=True, world_size=2, rank=0, tensorboard=str(tmp_path))
