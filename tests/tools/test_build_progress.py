"""tools/build_progress.py: shows steps and the time left, and passes on what a build prints and how it ends."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import build_progress  # noqa: E402


def program(repo, lines, status=0):
    """A build that prints these lines."""
    text = "\n".join(f"echo '{line}'" for line in lines)
    repo.stand_in("cmake", f'[ "$1" = --version ] && echo "cmake version 3.25.1"\n[ "$1" = --build ] || exit 0\n{text}\nexit {status}')
    repo.write("examples/gpt_train.yaml", "mesh: {shape: [1]}\n")
    return repo.run("quickstart")


def test_the_last_step_is_shown_with_the_number_of_steps(repo):
    result = program(repo, ["[1/2] Building CXX object a.o", "[2/2] Linking CXX executable b"])
    assert "step 2 of 2" in result.stdout and "Building" not in result.stdout


def test_what_a_failing_step_prints_passes_through(repo):
    result = program(repo, ["[1/2] Building CXX object a.o", "FAILED: a.o", "a.cc:1: error: no"], status=1)
    assert result.returncode == 1 and "a.cc:1: error: no" in result.stdout
    assert repo.calls_of("mpirun") == []


@pytest.fixture
def build(tmp_path):
    (tmp_path / "loop.cc").write_text("x" * 10240)
    (tmp_path / "Unity").mkdir()
    (tmp_path / "Unity" / "batch.cxx").write_text(f'#include "{tmp_path}/loop.cc"\n#include "{tmp_path}/loop.cc"\n')
    commands = [{"file": str(tmp_path / "loop.cc"), "command": "c++ -O3 -fPIC -O3 -o loop.o -c loop.cc"},
                {"file": str(tmp_path / "Unity" / "batch.cxx"), "command": "c++ -O3 -fPIC -O1 -o batch.o -c batch.cxx"}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    return tmp_path


def test_costs_follow_the_size_of_sources_and_how_they_are_optimised(build):
    costs = build_progress.costs_of(build)
    assert costs["loop.o"] == 10 * build_progress.COST_OF_LOOPS
    assert costs["batch.o"] == 20 * build_progress.COST
    assert build_progress.costs_of(build / "nowhere") == {}


def test_the_time_left_is_that_of_the_remaining_costs(build, monkeypatch):
    monkeypatch.setattr(build_progress.subprocess, "run", lambda *_, **__: type("Done", (), {"stdout": "loop.o batch.o other"}))
    now = [100.0]
    monkeypatch.setattr(build_progress.time, "monotonic", lambda: now[0])
    progress = build_progress.Progress(build, ["all"], 2)
    assert progress.left(0, 2) == ""
    now[0] += 600
    progress.done = progress.total / 4
    assert progress.left(1, 2) == ", about 30 min left"
    # Of a build that has objects already the costs say nothing.
    progress = build_progress.Progress(build, ["all"], 1)
    now[0] += 600
    assert progress.left(1, 2) == ", about 10 min left"
