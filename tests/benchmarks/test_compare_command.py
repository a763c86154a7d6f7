"""benchmarks/compare as a command, against stand-ins for autophi, mpirun and pip."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from peers import environment
from peers.processes import Command, RunError, run_together

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "benchmarks" / "compare"
LAUNCHER = ROOT / "benchmarks" / "peers" / "rank.py"

# Writes the report that `autophi run` writes on rank 0; its job and threads go into it too.
AUTOPHI = f"""#!{sys.executable}
import json, os, sys
words = dict(word[2:].split("=", 1) for word in sys.argv if "=" in word)
job = json.load(open(sys.argv[2]))
if os.environ.get("STAND_IN_FAILS") == job["run"]["dtype"]:
    sys.exit("no such dtype yet")
if os.environ.get("RANK_OF_STAND_IN", "0") == "0":
    json.dump({{"losses": [5.5, 4.25], "step_seconds": [1.0] * job["run"]["steps"]}},
              open(words["report"], "w"))
open(os.environ["STAND_IN_LOG"], "a").write(
    json.dumps([job, os.environ["OMP_NUM_THREADS"]]) + "\\n")
"""
MPIRUN = """#!/bin/bash
shift 2
for rank in 0 1; do RANK_OF_STAND_IN=$rank "$@" || exit 3; done
"""


@pytest.fixture
def compare(tmp_path):
    """Runs the command; `compare.jobs()` are the jobs of the stand-in's ranks."""
    for name, text in (("autophi", AUTOPHI), ("mpirun", MPIRUN)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"

    def run(*args, **env):
        return subprocess.run(
            [sys.executable, PROGRAM, f"--autophi={tmp_path}/autophi", *args],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "STAND_IN_LOG": str(log),
                 **env}, capture_output=True, text=True, timeout=60, check=False)

    run.jobs = lambda: [json.loads(line) for line in log.read_text().splitlines()]
    return run


def test_one_process_runs_without_mpirun_on_one_thread(compare):
    result = compare("--side=autophi", "--only=float32", "--repeat=1", "--steps=4", "--warm-up=2")
    assert result.returncode == 0, result.stderr + result.stdout
    ((job, threads),) = compare.jobs()
    assert threads == "1"
    assert job["mode"] == "train" and job["mesh"] == {"shape": [1], "dims": ["dp"]}
    assert job["run"] == {"steps": 6, "global_batch": 8, "micro_batches": 1, "dtype": "float32",
                          "schedule": "1f1b"}
    assert "autophi float32      1  2,048" in result.stdout
    assert "4.2500" in result.stdout


def test_two_processes_share_a_mesh(compare):
    result = compare("--side=autophi", "--only=float32-pp2", "--repeat=2", "--steps=1")
    assert result.returncode == 0, result.stderr + result.stdout
    assert len(compare.jobs()) == 4  # two ranks, two turns
    job, _ = compare.jobs()[0]
    assert job["mesh"] == {"shape": [2], "dims": ["pp"]} and job["run"]["micro_batches"] == 4


def test_a_failing_run_is_named_and_the_others_are_still_shown(compare):
    result = compare("--side=autophi", "--only=float32,bfloat16", "--repeat=2", "--steps=1",
                     STAND_IN_FAILS="bfloat16")
    assert result.returncode == 1
    failures = [line for line in result.stdout.splitlines() if line.startswith("failed:")]
    assert failures == ["failed: autophi bfloat16: exit status 1: no such dtype yet"]
    assert "autophi float32       1  2,048" in result.stdout


def test_a_missing_binary_says_how_to_build_it(compare):
    result = compare("--side=autophi", "--only=float32", "--autophi=/nowhere/autophi")
    assert result.returncode == 1
    assert "/nowhere/autophi does not exist; build it with `cmake --preset release" in result.stdout


def test_without_pytorch_our_rows_are_still_shown(compare, tmp_path):
    (tmp_path / "no_venv").mkdir()
    (tmp_path / "no_venv" / "mine").touch()
    result = compare("--only=float32", "--repeat=1", f"--venv={tmp_path}/no_venv")
    assert result.returncode == 1
    assert "failed: PyTorch could not be set up, so its side did not run: " in result.stdout
    assert "no_venv is no virtual environment and not empty" in result.stdout
    assert "autophi float32      1  2,048" in result.stdout
    assert (tmp_path / "no_venv" / "mine").exists()


def test_what_runs_is_stopped_with_the_command(tmp_path):
    autophi = tmp_path / "autophi"
    autophi.write_text(f"#!/bin/bash\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    autophi.chmod(0o755)
    compare = subprocess.Popen([sys.executable, PROGRAM, f"--autophi={autophi}", "--side=autophi",
                                "--only=float32"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pid = wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    compare.terminate()
    assert compare.wait(timeout=30) == 130
    assert wait_for(lambda: not Path(f"/proc/{pid}").exists())


def wait_for(condition, timeout_s=20):
    deadline = time.monotonic() + timeout_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def test_json_has_the_repeats(compare, tmp_path):
    compare("--side=autophi", "--only=float32", "--repeat=2", f"--json={tmp_path}/out.json")
    out = json.loads((tmp_path / "out.json").read_text())
    assert [m["tokens_per_s"] for m in out["runs"][0]["repeats"]] == [2048.0, 2048.0]
    assert out["comparisons"][0]["speed_goal"] == 1.15
    assert out["comparisons"][0]["speed_ratio"] is None


@pytest.mark.parametrize("arg, message", [
    ("--only=float33", "no comparison 'float33'; known are float32"),
    ("--steps=0", "must be 1 or more, got 0"),
    ("--json=/nowhere/x.json", "no folder /nowhere"),
])
def test_wrong_arguments(compare, arg, message):
    result = compare(arg)
    assert result.returncode == 2
    assert message in result.stderr


# --- processes


def command(*words):
    return Command([str(word) for word in words], {}, ROOT)


def test_a_failing_process_stops_the_others(tmp_path):
    with pytest.raises(RunError, match="exit status 7: .*the reason"):
        run_together([command("sleep", 60), command("bash", "-c", "echo the reason; exit 7")],
                     tmp_path, timeout_s=30)


def test_a_hanging_process_is_stopped(tmp_path):
    with pytest.raises(RunError, match="not finished after 0 s: it printed no output"):
        run_together([command("sleep", 60)], tmp_path, timeout_s=0.1)


def test_a_program_that_cannot_start(tmp_path):
    with pytest.raises(RunError, match="cannot start /nowhere: No such file"):
        run_together([command("/nowhere")], tmp_path, timeout_s=1)


def rank(folder, *words):
    return subprocess.run([sys.executable, LAUNCHER, folder, *words], check=False,
                          timeout=60).returncode


def test_peak_memory_is_the_most_that_was_resident(tmp_path):
    code = "import time; x = b'1' * (200 << 20); del x; time.sleep(0.2)"
    assert rank(tmp_path, sys.executable, "-c", code) == 0
    (file,) = tmp_path.glob("peak.*")
    assert 200 << 20 < int(file.read_text()) < 300 << 20


def test_the_ranks_exit_status_is_passed_on(tmp_path):
    assert rank(tmp_path, "bash", "-c", "exit 5") == 5
    assert rank(tmp_path, "bash", "-c", "kill -9 $$") == 137


# --- the virtual environment


@pytest.fixture
def pip(monkeypatch):
    """Stands in for venv and pip: `calls` are their command lines; those that have a word of
    `refused` fail."""
    class Pip:
        calls = []
        refused = set()

        def run(self, command):
            self.calls.append(" ".join(map(str, command)))
            if any(word in self.calls[-1] for word in self.refused):
                raise environment.SetupError("`pip install` failed:\n  no network")

    stand_in = Pip()
    stand_in.calls = []
    stand_in.refused = set()
    monkeypatch.setattr(environment, "_run", stand_in.run)
    monkeypatch.setattr(environment, "_require_disk", lambda folder: None)
    monkeypatch.setattr(environment, "installed_version", lambda folder:
                        "2.15.0+cpu" if len(stand_in.calls) > 1 else "")
    return stand_in


def test_the_cpu_build_is_preferred(pip, tmp_path):
    assert environment.ensure(tmp_path / "v", print) == tmp_path / "v" / "bin" / "python"
    _, install = pip.calls
    assert "--index-url https://download.pytorch.org/whl/cpu torch==2.15.0" in install


def test_pypi_comes_second(pip, tmp_path, capsys):
    pip.refused = {"--index-url"}
    environment.ensure(tmp_path / "v", print)
    assert pip.calls[-1].endswith("torch==2.15.0 numpy") and "--index-url" not in pip.calls[-1]
    assert "3 GB to download" in capsys.readouterr().out


def test_an_environment_that_is_there_is_used(pip, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "installed_version", lambda folder: "2.15.0+cu132")
    environment.ensure(tmp_path / "v", print)
    assert pip.calls == []


def test_no_network_is_said(pip, tmp_path):
    pip.refused = {"pip install"}
    with pytest.raises(environment.SetupError, match="no network"):
        environment.ensure(tmp_path / "v", print)


def test_an_environment_that_does_not_load_is_said(pip, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "installed_version", lambda folder: "")
    with pytest.raises(environment.SetupError, match="installed but does not load"):
        environment.ensure(tmp_path / "v", print)


def test_too_little_disk_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "_PYPI_DISK_BYTES", 1 << 60)
    with pytest.raises(environment.SetupError, match="GB are needed; --venv names a folder"):
        environment._require_disk(tmp_path)
