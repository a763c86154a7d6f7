"""tools/gpu_check on a machine without a GPU, and on one that seems to have one."""

import json
import os
import pathlib
import stat
import subprocess
import sys

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
    for name in ("gradient_test", "random_program_test", "gpu_kernel_tests"):
        program(tmp_path / "build/bin" / name, "exit 0\n")
    done = check(tmp_path, "--quick")
    assert done.returncode == 1, done.stderr
    record = json.loads((tmp_path / "out/gpu_check.json").read_text())
    assert record["gpus"][0]["name"] == "A GPU"
    assert [part["result"] for part in record["parts"]] == ["failed with status 3", *["passed"] * 3, *["skipped: this build has no NCCL"],
                                                             *["skipped: this build has no NCCL, or no MPI"] * 2]


def test_a_rank_that_is_killed_must_end_the_others(tmp_path, monkeypatch):
    program(tmp_path / "path/nvidia-smi", "echo 'A GPU, 580.1, 81559 MiB, 9.0'\n")
    for name in ("op_parity_test", "gradient_test", "random_program_test", "gpu_kernel_tests", "gpu_messages_tests"):
        program(tmp_path / "build/bin" / name, "exit 0\n")
    program(tmp_path / "build/bin/gpu_messages_mpi_tests", "exit 0\n")
    program(tmp_path / "path/mpirun", 'case "$*" in *"-n 2 "*DISABLED*) exit $KILLED;; *) exit 0;; esac\n')
    for status, result in ((1, "passed"), (0, "failed with status 1")):
        monkeypatch.setenv("KILLED", str(status))
        done = check(tmp_path, "--quick")
        record = json.loads((tmp_path / "out/gpu_check.json").read_text())
        assert [part["result"] for part in record["parts"]] == [*["passed"] * 6, result], done.stderr


def test_what_was_not_built_is_told(tmp_path):
    program(tmp_path / "path/nvidia-smi", "echo 'A GPU, 580.1, 81559 MiB, 9.0'\n")
    done = check(tmp_path, "--quick")
    assert done.returncode == 1 and "op_parity_test is not there; build it" in done.stdout


A_GPU = "echo 'A GPU, 580.1, 81559 MiB, 9.0'\n"
ROWS = """echo 'a word of MPI' >&2
cat <<'END'
{"timed": true, "rows": [
 {"what": "matmul", "beside": "cuBLASLt", "goal": 0.97, "ours_us": 10.5, "beside_us": 10.3, "ratio": 0.98},
 {"what": "add", "beside": "copy", "goal": 0.8, "ours_us": 10, "beside_us": 5, "ratio": 0.5},
 {"what": "attention", "beside": "product", "goal": 0.25, "note": "no kernel"}]}
END
"""


STEPS = """cat <<'END'
{"timed": true, "rows": [
 {"what": "a step", "beside": "itself without gaps", "goal": 0, "ours_us": 10, "beside_us": 9, "ratio": 0.9},
 {"what": "llama", "beside": "PyTorch", "goal": 0.9, "sizes": {"layers": 2}, "ours_us": 200}]}
END
"""


def ready_to_time(tmp_path):
    """A machine where all but times passes at once."""
    program(tmp_path / "path/nvidia-smi", A_GPU)
    program(tmp_path / "path/compute-sanitizer", "exit 0\n")
    for name in ("op_parity_test", "gradient_test", "random_program_test", "gpu_kernel_tests"):
        program(tmp_path / "build/bin" / name, "exit 0\n")


def test_times_stand_beside_their_goals(tmp_path, monkeypatch):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gpu_bench", f'test "$1" = --steps && exec {tmp_path / "steps"}\n{ROWS}')
    program(tmp_path / "steps", STEPS)
    program(tmp_path / "torch", f'test "$2" = {tmp_path / "out/times_of_training_steps.log"} && echo "$TORCH" && exit ${{STATUS:-0}}\n')
    monkeypatch.setenv("TORCH", '{"rows": [{"what": "llama", "beside_us": 190}]}')
    done = check(tmp_path, f"--torch-python={tmp_path / 'torch'}")
    assert done.returncode == 0, done.stderr
    assert "0.98 of cuBLASLt (10.3 us), goal 0.97 met" in done.stdout
    assert "0.50 of copy (5.0 us), goal 0.80 missed" in done.stdout and "no kernel" in done.stdout
    record = json.loads((tmp_path / "out/gpu_check.json").read_text())
    assert [row["what"] for row in record["timed"]] == ["matmul", "add", "attention", "a step", "llama"]
    assert len(record["parts"]) == 13
    assert "0.90 of itself without gaps (9.0 us)\n" in done.stdout  # for which no goal is set
    assert "0.95 of PyTorch (190.0 us), goal 0.90 met" in done.stdout and record["timed"][4]["ratio"] == 0.95
    for word, status, note in (("PyTorch is not here", 78, "skipped: PyTorch is not here"), ("", 1, "failed with status 1"),
                               ('{"rows": [{"what": "llama", "note": "out of memory"}]}', 0, "out of memory")):
        monkeypatch.setenv("TORCH", word)
        monkeypatch.setenv("STATUS", str(status))
        done = check(tmp_path, f"--torch-python={tmp_path / 'torch'}")
        assert done.returncode == (status == 1) and f"200.0 us; beside PyTorch: {note}\n" in done.stdout


def test_without_pytorch_its_part_is_left_out(tmp_path):
    ready_to_time(tmp_path)
    (tmp_path / "torch.py").write_text("raise ImportError('none here')\n")
    program(tmp_path / "build/bin/gpu_bench", STEPS)
    program(tmp_path / "python", f'PYTHONPATH={tmp_path} exec python3 -B "$@"\n')
    done = check(tmp_path, f"--torch-python={tmp_path / 'python'}")
    assert done.returncode == 0, done.stderr
    assert "200.0 us; beside PyTorch: skipped: PyTorch cannot be imported (none here)" in done.stdout


def test_parts_have_their_time_together(tmp_path):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gradient_test", "exec sleep 20\n")
    done = check(tmp_path, "--quick", "--seconds=2")
    record = json.loads((tmp_path / "out/gpu_check.json").read_text())
    results = [part["result"] for part in record["parts"]]
    assert done.returncode == 1 and results[:2] == ["passed", "took more than 2 s"], results
    assert results[2:4] == ["no time was left for it"] * 2 and sum(part["seconds"] for part in record["parts"]) < 10


def test_a_benchmark_that_ends_early_leaves_no_rows(tmp_path):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gpu_bench", "echo '{\"rows\": ['; exit 1\n")
    assert check(tmp_path).returncode == 1
    assert json.loads((tmp_path / "out/gpu_check.json").read_text())["timed"] == []


def built(tmp_path, most=""):
    """A build of scripts, a library of its own and one of the system; strip, ldd and dpkg-query that know them."""
    build = tmp_path / "build"
    for name in ("op_parity_test", "gradient_test", "random_program_test", "gpu_kernel_tests", "gpu_bench"):
        program(build / "bin" / name, "echo tables $AUTOPHI_OP_TABLES\n")
    program(build / "lib/libours.so.0", most)
    (build / "CMakeCache.txt").write_text("AUTOPHI_CUDA_ARCH:STRING=90-real\n")
    program(tmp_path / "path/nvcc", "echo release 13.7\n")
    program(tmp_path / "path/strip", 'cp "$4" "$3"\n')
    program(tmp_path / "path/ldd", f"echo ' libours.so.0 => {build}/lib/libours.so.0 (0x1)'\necho ' libm.so.6 => /lib/libm.so.6 (0x1)'\n")
    program(tmp_path / "path/dpkg-query", "test $2 = /usr/lib/libm.so.6 && echo libc6:amd64: $2\n")


def test_a_bundle_checks_without_the_tree(tmp_path):
    built(tmp_path)
    done = check(tmp_path, f"--bundle={tmp_path / 'bundle'}")
    assert done.returncode == 0, done.stderr
    assert "GPUs 90-real" in done.stdout and "apt-get install libc6\n" in done.stdout
    assert (tmp_path / "bundle/lib/libours.so.0").exists()
    program(tmp_path / "path/nvidia-smi", A_GPU)
    os.remove(tmp_path / "path/nvcc")
    environment = {**os.environ, "PATH": f"{tmp_path / 'path'}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "bundle/tools/gpu_check", "--quick"], cwd=tmp_path, capture_output=True, text=True,
                          env=environment, check=False)
    assert done.returncode == 0, done.stderr
    tables = tmp_path / "bundle/tests/api/ops"
    assert f"tables {tables}" in (tmp_path / "gpu_check/gradients.log").read_text()
    assert sorted(file.name for file in tables.glob("*.yaml")) == sorted(file.name for file in (ROOT / "tests/api/ops").glob("*.yaml"))
    assert (tables / "refusals").is_dir()
    said = subprocess.run([sys.executable, "-B", tmp_path / "bundle/benchmarks/torch_on_gpu", "none"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (78, "gpu_bench has printed no steps to stand beside\n")
    written, about = (json.loads((tmp_path / name).read_text()) for name in ("gpu_check/gpu_check.json", "bundle/bundle.json"))
    assert (written["commit"], written["cuda"]) == (about["commit"], "release 13.7") == (about["commit"], about["cuda"])


def test_a_bundle_says_why_there_is_none(tmp_path):
    built(tmp_path, most="#" * 61_000_000)
    folder = tmp_path / "bundle"
    done = check(tmp_path, f"--bundle={folder}")
    assert done.returncode == 1 and "more than 60; build for one kind of GPU" in done.stderr
    done = check(tmp_path, f"--bundle={folder}")
    assert done.returncode == 1 and f"{folder} is not empty" in done.stderr
    done = check(tmp_path, f"--build={folder}", f"--bundle={tmp_path / 'other'}")
    assert done.returncode == 1 and "is a bundle itself; copy it" in done.stderr
    os.remove(tmp_path / "build/bin/gpu_bench")
    done = check(tmp_path, f"--bundle={tmp_path / 'other'}")
    assert done.returncode == 1 and "gpu_bench is not there; build it" in done.stderr
    program(tmp_path / "path/ldd", "echo ' libours.so.0 => not found'\n")
    done = check(tmp_path, f"--bundle={tmp_path / 'third'}")
    assert done.returncode == 1 and "op_parity_test needs libours.so.0, which is not here" in done.stderr
