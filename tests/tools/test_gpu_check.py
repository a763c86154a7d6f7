"""tools/gpu_check on a machine without a GPU, and on one that seems to have one."""

import json
import os
import pathlib
import stat
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def check(tmp_path, *args):
    """gpu_check with the programs of tmp_path/path before all others."""
    environment = {**os.environ, "PATH": f"{tmp_path / 'path'}:{os.environ['PATH']}"}
    return subprocess.run([ROOT / "tools/gpu_check", f"--build={tmp_path / 'build'}", f"--out={tmp_path / 'out'}", *args],
                          capture_output=True, text=True, env=environment)


def test_without_a_gpu_it_says_so(tmp_path):
    program(tmp_path / "path/nvidia-smi", "exit 9\n")
    done = check(tmp_path)
    assert done.returncode == 77 and "no GPU answers here" in done.stdout


def test_parts_go_on_after_one_that_fails_and_are_recorded(tmp_path):
    program(tmp_path / "path/nvidia-smi", "echo 'A GPU, 580.1, 81559 MiB, 9.0'\n")
    program(tmp_path / "build/bin/op_parity_test", 'test "$1 $2" = "--place=gpu --gpus=1" && exit 3\n')
    program(tmp_path / "build/bin/gradient_test", "exit 0\n")
    done = check(tmp_path, "--quick")
    assert done.returncode == 1, done.stderr
    record = json.loads((tmp_path / "out/gpu_check.json").read_text())
    assert record["gpus"][0]["name"] == "A GPU"
    assert [part["result"] for part in record["parts"]] == ["failed with status 3", "passed"]


def test_what_was_not_built_is_told(tmp_path):
    program(tmp_path / "path/nvidia-smi", "echo 'A GPU, 580.1, 81559 MiB, 9.0'\n")
    done = check(tmp_path, "--quick")
    assert done.returncode == 1 and "op_parity_test is not there; build it" in done.stdout
