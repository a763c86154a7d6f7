"""examples/python: the same losses on 1, 2, 4 and 8 ranks, as processes and as threads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GPT = Path(__file__).resolve().parents[2] / "examples" / "python" / "gpt.py"


def losses(*flags, ranks=None):
    command = [sys.executable, str(GPT), "--steps=4", f"--text={Path(__file__).parent / 'test_nn.py'}", *flags]
    if ranks:
        mpirun = os.environ.get("AUTOPHI_MPIRUN") or "mpirun"
        command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True, stdin=subprocess.DEVNULL)
    steps = re.findall(r"^step (\d+)  loss (\S+)$", done.stdout, re.MULTILINE)
    assert [step for step, _ in steps] == ["1", "2", "3", "4"]
    return [float(loss) for _, loss in steps]


@pytest.fixture(scope="module")
def alone():
    result = losses()
    assert result[-1] < result[0] - 0.2
    return result


def test_it_is_short():
    assert len(GPT.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("flags", [["--threads=2"], ["--threads=4", "--tp=2"], ["--threads=8", "--tp=2", "--pp=2"]])
def test_threads(alone, flags):
    assert losses(*flags) == pytest.approx(alone, abs=2e-4)


@pytest.mark.parametrize(("ranks", "flags"), [(2, ["--tp=2"]), (4, ["--pp=2"]), (8, ["--tp=2", "--pp=2"])])
def test_processes(alone, ranks, flags):
    assert losses(*flags, ranks=ranks) == pytest.approx(alone, abs=2e-4)


PLANNED = GPT.parent / "planned.py"
MACHINE = """
links: [{name: node, latency_us: 1, GBps: 1}]
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {points: [[1, 1e9]]}
"""


def test_a_planned_network_trains_alike(tmp_path):
    machine = tmp_path / "machine.yaml"
    machine.write_text(MACHINE, encoding="utf-8")

    def run(ranks):
        mpirun = os.environ.get("AUTOPHI_MPIRUN") or "mpirun"
        command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                   sys.executable, str(PLANNED), f"--machine={machine}", "--steps=3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True,
                              stdin=subprocess.DEVNULL)
        return done.stdout, [float(loss) for loss in re.findall(r"^step \d+  loss (\S+)$", done.stdout, re.MULTILINE)]

    (_, alone), (output, split) = run(1), run(4)
    assert len(alone) == 3
    assert split == pytest.approx(alone, abs=2e-4)
    assert re.search(r"^  1  dp \d  pp \d  tp \d ", output, re.MULTILINE)
