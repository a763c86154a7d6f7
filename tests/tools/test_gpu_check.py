"""tools/gpu_check on a machine without a GPU, and on one that seems to have one."""

import functools
import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import gpu_machine  # noqa: E402

# A driver as the environment wants it.
LIBCUDA = """
#include <stdlib.h>
#include <string.h>
static int number(const char* name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
int cuInit(unsigned flags) { return number("CUINIT", 0); }
int cuDriverGetVersion(int* version) { return *version = 13010, 0; }
int cuDeviceGetCount(int* count) { return *count = number("GPUS", 1), 0; }
int cuDeviceGet(int* device, int i) { return *device = i, 0; }
int cuDeviceGetName(char* name, int size, int device) { return strncpy(name, "A GPU", size), 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return *bytes = 85899345920, 0; }
int cuDeviceGetAttribute(int* value, int which, int device) {
  return *value = which == 75 ? number("CAPABILITY", 90) / 10 : which == 76 ? number("CAPABILITY", 90) % 10 : -1, 0;
}
"""
NVIDIA_SMI = """case "$1" in
--query-gpu=*) echo 'WARNING: infoROM is corrupted'; echo '580.65.06, 210 MHz, 1980 MHz, 700.00 W, Disabled';;
*) echo '12, python, 300 MiB';;
esac
"""
PROGRAMS = ("op_parity_test", "gpu_recorded_calls", "gradient_test", "random_program_test", "gpu_kernel_tests")


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@functools.cache
def compiled(source):
    """A shared library, as bytes."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", file.name, "-x", "c", "-"], input=source, text=True, check=True)
        return pathlib.Path(file.name).read_bytes()


def library(path, source=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compiled(source))


def machine(tmp_path, programs=PROGRAMS):
    """One with GPUs and CUDA's libraries, where these programs pass at once."""
    library(tmp_path / "lib/libcuda.so.1", LIBCUDA)
    for name in ("libcublasLt.so.13", "libnccl.so.2"):
        library(tmp_path / "lib" / name)
    program(tmp_path / "path/nvidia-smi", NVIDIA_SMI)
    for name in programs:
        program(tmp_path / "build/bin" / name, "exit 0\n")


def environment(tmp_path):
    """That of tmp_path's programs and libraries before all others."""
    return {**os.environ, "PATH": f"{tmp_path / 'path'}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(tmp_path / "lib"),
            "HOME": str(tmp_path / "home")}


def command(tmp_path, *args):
    return [ROOT / "tools/gpu_check", f"--build={tmp_path / 'build'}", f"--out={tmp_path / 'out'}", "--jobs=8", *args]


def check(tmp_path, *args):
    return subprocess.run(command(tmp_path, *args), capture_output=True, text=True, env=environment(tmp_path), check=False)


def record_of(tmp_path):
    return json.loads((tmp_path / "out/gpu_check.json").read_text())


def results(tmp_path):
    return [part["result"] for part in record_of(tmp_path)["parts"]]


def result(tmp_path, name):
    """The only part with this prefix."""
    told, = [part["result"] for part in record_of(tmp_path)["parts"] if part["part"].startswith(name)]
    return told


def logs_of(out):
    """By name, what the processes of all parts have printed."""
    with tarfile.open(out / "gpu_check_logs.tar.gz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}


def test_without_a_gpu_it_says_so(tmp_path, monkeypatch):
    machine(tmp_path)
    for name, value, why in (("CUINIT", "100", "cuInit of the driver fails with error 100"),
                             ("GPUS", "0", "the driver shows no GPU to programs")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            done = check(tmp_path)
        assert done.returncode == 77 and f"no GPU was found ({why})" in done.stdout
    (tmp_path / "lib/libcuda.so.1").write_text("")
    done = check(tmp_path)
    assert done.returncode == 77 and "no GPU was found (no driver: " in done.stdout


def test_parts_go_on_after_one_that_fails_and_are_recorded(tmp_path, monkeypatch):
    machine(tmp_path)
    monkeypatch.setenv("GPUS", "2")
    program(tmp_path / "build/bin/op_parity_test", 'test "$*" = "--place=gpu --gpus=2 --messages=host" && exit 3\n')
    program(tmp_path / "build/bin/random_program_test", "exit 78\n")
    os.chmod(tmp_path / "build/bin/gpu_kernel_tests", 0o600)
    done = check(tmp_path, "--quick")
    assert done.returncode == 1, done.stderr
    record = record_of(tmp_path)
    assert record["gpus"] == [{"name": "A GPU", "memory": 85899345920, "capability": "9.0"}] * 2 and record["driver_serves_cuda"] == "13.1"
    assert record["nvidia_smi"]["gpus"][0] | {"driver_version": "580.65.06", "clocks.sm": "210 MHz"} == record["nvidia_smi"]["gpus"][0]
    assert record["nvidia_smi"]["processes"] == ["12, python, 300 MiB"]
    assert done.stdout.startswith("A GPU, driver 580.65.06 for CUDA 13.1, ")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["gpu_check.json", "gpu_check_logs.tar.gz"]
    assert results(tmp_path) == ["failed with status 3", "passed", "passed", "skipped: no reason was printed",
                                 f"{tmp_path / 'build/bin/gpu_kernel_tests'} cannot be started: Permission denied",
                                 "skipped: this build has no NCCL", *["skipped: this build has no NCCL, or no MPI"] * 2]


def test_nothing_of_nvidia_smi_is_needed(tmp_path):
    machine(tmp_path)
    program(tmp_path / "path/nvidia-smi", "exit 9\n")
    assert check(tmp_path, "--quick").returncode == 0
    assert record_of(tmp_path)["nvidia_smi"] == {"gpus": [], "processes": []}


def test_a_rank_that_is_killed_must_end_the_others(tmp_path, monkeypatch):
    machine(tmp_path, (*PROGRAMS, "gpu_messages_tests", "gpu_messages_mpi_tests"))
    program(tmp_path / "path/mpirun", 'case "$*" in *"--bind-to none -n 2 "*DISABLED*) echo $WORD; exit $KILLED;; *) exit 0;; esac\n')
    for status, word, result in ((1, "rank 1 ends itself", "passed"),
                                 (0, "rank 1 ends itself", "failed: a rank was killed, and the status is 0"),
                                 (1, "no GPU", "failed with status 1 before a rank was killed")):
        monkeypatch.setenv("KILLED", str(status))
        monkeypatch.setenv("WORD", word)
        done = check(tmp_path, "--quick")
        assert results(tmp_path) == [*["passed"] * 7, result], done.stderr
    assert 'fmt::print("rank {} ends itself' in (ROOT / "tests/distributed/comm/nccl_killed_test.cc").read_text()


def test_messages_need_nccl(tmp_path):
    machine(tmp_path, (*PROGRAMS, "gpu_messages_tests"))
    (tmp_path / "lib/libnccl.so.2").write_text("")
    done = check(tmp_path, "--quick")
    assert done.returncode == 0 and "cannot be loaded (" not in done.stdout.split("\n  operators")[0]
    assert results(tmp_path)[5].startswith("skipped: NCCL, 2.27 or newer, cannot be loaded (") and "libnccl.so.2: " in results(tmp_path)[5]


def test_libraries_are_found_where_toolkits_and_wheels_have_them(tmp_path, monkeypatch):
    machine(tmp_path, (*PROGRAMS, "gpu_messages_tests"))
    for name in ("op_parity_test", "gpu_messages_tests"):
        program(tmp_path / "build/bin" / name, 'echo "$LD_LIBRARY_PATH, $CUDA_MODULE_LOADING $NCCL_RUNTIME_CONNECT."\n')
    names = ("opt/nccl", "toolkit/lib64", "home/.cache/autophi/cuda/nvidia/cu13/lib", "site/nvidia/cublas/lib")
    folders = [tmp_path / name for name in names]
    for folder in folders:
        library(folder / "libnccl.so.2" if folder == folders[0] else folder / "libcublasLt.so.13")
    library(tmp_path / "site/nvidia/cufft/lib/libcufft.so.12")
    (tmp_path / "build/CMakeCache.txt").write_text(f"AUTOPHI_NCCL_LIBRARY:FILEPATH={folders[0]}/libnccl.so\n")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    assert check(tmp_path, "--quick").returncode == 0
    logs = logs_of(tmp_path / "out")
    path, settings = logs["operators_00.log"].split(", ")
    found = path.split(":")
    assert found[:2] == [str(tmp_path / "lib"), str(folders[0])] and set(map(str, folders)) <= set(found) and "cufft" not in path
    assert settings == " .\n" and logs["messages_by_NCCL.log"].endswith(", EAGER 0.\n")


def test_what_is_lacking_is_told_before_parts_start(tmp_path, monkeypatch):
    machine(tmp_path, (*PROGRAMS, "gpu_bench"))
    (tmp_path / "build/CMakeCache.txt").write_text("AUTOPHI_CUDA_ARCH:STRING=80-virtual;90-real\n")
    program(tmp_path / "path/ldd", "echo '  libfmt.so.9 => not found'\n")
    (tmp_path / "lib/libcublasLt.so.13").write_text("")
    monkeypatch.setenv("CAPABILITY", "120")
    done = check(tmp_path, "--quick")
    before = done.stdout.split("\nA GPU")[0].splitlines()
    assert done.returncode == 0 and len(before) == 3, done.stdout
    assert "compute capability 12.0" in before[0] and "built for 80-virtual;90-real: the driver compiles the kernels" in before[0]
    assert before[1] == "gpu_check: programs do not start without libfmt.so.9."
    assert "matmuls need cuBLASLt, which cannot be loaded (" in before[2]
    monkeypatch.setenv("CAPABILITY", "75")
    assert "its kernels do not run. Build with -DAUTOPHI_CUDA_ARCH=75." in check(tmp_path, "--quick").stdout


@pytest.mark.parametrize("capability, architectures, service",
                         [("9.0", "80-virtual;90-real", "code"), ("8.0", "80-virtual;90-real", "ptx"),
                          ("10.3", "80-virtual;90-real", "ptx"), ("7.5", "80-virtual;90-real", ""), ("8.9", "86-real", "code"),
                          ("8.0", "86-real", ""), ("12.0", "90-real", ""), ("12.0", "90", "ptx"), ("9.0", "90", "code"),
                          ("12.1", "120-real", "code"), ("5.0", "native", "code"), ("5.0", "", "code")])
def test_which_gpus_are_served(capability, architectures, service):
    assert gpu_machine.service(capability, architectures) == service


def test_the_toolkit_is_that_of_the_build(tmp_path):
    machine(tmp_path)
    program(tmp_path / "path/nvcc", "echo release 12.1\n")
    program(tmp_path / "opt/nvcc", "echo release 13.7\n")
    (tmp_path / "build/CMakeCache.txt").write_text(f"AUTOPHI_NVCC:FILEPATH={tmp_path / 'opt/nvcc'}\n")
    check(tmp_path, "--quick")
    assert record_of(tmp_path)["cuda"] == "release 13.7"
    os.remove(tmp_path / "opt/nvcc")
    check(tmp_path, "--quick")
    assert record_of(tmp_path)["cuda"] == "release 12.1"


def test_what_was_not_built_is_told(tmp_path):
    machine(tmp_path, ())
    done = check(tmp_path, "--quick")
    assert done.returncode == 1 and "op_parity_test does not exist; build it" in done.stdout


ROWS = """echo '{ a word of MPI' >&2
cat <<'END'
{"what": "matmul", "beside": "cuBLASLt", "goal": 0.97, "ours_us": 10.5, "beside_us": 10.3, "ratio": 0.98}
{"what": "add", "beside": "copy", "goal": 0.8, "ours_us": 10, "beside_us": 5, "ratio": 0.5}
a word of another library
{"what": "attention", "beside": "product", "goal": 0.25, "note": "no kernel"}
{"what": "nothing", "beside": "copy", "goal": 0.8, "ours_us": 10, "beside_us": 5, "ratio": null}
END
"""


STEPS = """cat <<'END'
{"what": "a step", "beside": "itself without gaps", "goal": 0, "ours_us": 10, "beside_us": 9, "ratio": 0.9}
{"what": "llama", "beside": "PyTorch", "goal": 0.9, "sizes": {"layers": 2}, "ours_us": 200}
{"what": "a larger llama", "beside": "PyTorch", "goal": 0.9, "sizes": {"layers": 2}, "note": "out of memory"}
END
"""


def ready_to_time(tmp_path):
    """A machine where all but times passes at once."""
    machine(tmp_path)
    program(tmp_path / "path/compute-sanitizer", 'echo "$*"\n')


def test_times_stand_beside_their_goals(tmp_path, monkeypatch):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gpu_bench", f'test "$1" = --steps && exec {tmp_path / "steps"}\n{ROWS}')
    program(tmp_path / "steps", STEPS)
    program(tmp_path / "torch", 'grep -q llama "$2" && test "${2##*/}" = times_of_training_steps.log && echo "$TORCH" && exit ${STATUS:-0}\n')
    monkeypatch.setenv("TORCH", '{"what": "llama", "beside_us": 190}')
    done = check(tmp_path, f"--torch-python={tmp_path / 'torch'}")
    assert done.returncode == 0, done.stderr
    assert "0.98 of cuBLASLt (10.3 us), goal 0.97 met" in done.stdout
    assert "0.50 of copy (5.0 us), goal 0.80 missed" in done.stdout and "no kernel" in done.stdout
    assert "  nothing                                no figure\n" in done.stdout
    record = record_of(tmp_path)
    assert [row["what"] for row in record["timed"]] == ["matmul", "add", "attention", "nothing", "a step", "llama", "a larger llama"]
    options = logs_of(tmp_path / "out")["compute-sanitizer_racecheck.log"]
    assert options.startswith("--tool=racecheck --error-exitcode=1 --report-api-errors=no --print-limit=20 ")
    assert len(record["parts"]) == 14 and record["parts"][0]["part"] == "times against their bounds"
    assert done.stdout.index("0.98 of cuBLASLt") < done.stdout.index("operators, plain"), "each result when its part ends"
    assert "0.90 of itself without gaps (9.0 us)\n" in done.stdout  # for which no goal is set
    assert "0.95 of PyTorch (190.0 us), goal 0.90 met" in done.stdout and record["timed"][5]["ratio"] == 0.95
    for word, status, note in (("PyTorch is not here", 78, "skipped: PyTorch is not here"), ("", 1, "failed with status 1"),
                               ('{"what": "llama", "note": "out of memory"}', 0, "out of memory")):
        monkeypatch.setenv("TORCH", word)
        monkeypatch.setenv("STATUS", str(status))
        done = check(tmp_path, f"--torch-python={tmp_path / 'torch'}")
        assert done.returncode == (status == 1) and f"200.0 us; against PyTorch: {note}\n" in done.stdout


def test_without_pytorch_its_part_is_left_out(tmp_path):
    ready_to_time(tmp_path)
    (tmp_path / "torch.py").write_text("raise ImportError('none here')\n")
    program(tmp_path / "build/bin/gpu_bench", STEPS)
    program(tmp_path / "python", f'PYTHONPATH={tmp_path} exec python3 -B "$@"\n')
    done = check(tmp_path, f"--torch-python={tmp_path / 'python'}")
    assert done.returncode == 0, done.stderr
    assert "200.0 us; against PyTorch: skipped: PyTorch cannot be imported (none here)" in done.stdout


def test_pytorch_takes_no_step_that_we_have_not_taken(tmp_path):
    (tmp_path / "log").write_text('{"what": "llama", "beside": "PyTorch", "sizes": {"layers": 2}, "note": "out of memory"}\n')
    done = subprocess.run([ROOT / "benchmarks/torch_on_gpu", tmp_path / "log"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (78, "gpu_bench has timed no steps to compare with\n")


def test_parts_have_their_time_together(tmp_path):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gradient_test", "exec sleep 20\n")
    done = check(tmp_path, "--only=gradients,random", "--seconds=2")
    assert done.returncode == 1 and results(tmp_path) == ["took more than 2 s", "no time was left for it"]


# As mpirun it gives what it starts a process group of its own.
STARTS_ANOTHER = """#!/bin/bash
set -m
({trap} exec sleep 60) &
echo $! > {pid}
{then}
"""


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_what_a_part_has_started_ends_with_it(tmp_path):
    machine(tmp_path)
    for name, trap, then in (("gradient_test", "", "exit 0"), ("random_program_test", "trap '' TERM;", "exec sleep 60")):
        (tmp_path / "build/bin" / name).write_text(STARTS_ANOTHER.format(trap=trap, pid=tmp_path / name, then=then))
    check(tmp_path, "--only=gradients")
    assert results(tmp_path) == ["passed"]
    check(tmp_path, "--only=random", "--seconds=2")
    assert results(tmp_path)[0].startswith("took more than ")
    assert not any(is_there((tmp_path / name).read_text().strip()) for name in ("gradient_test", "random_program_test"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_parts_end_with_gpu_check(tmp_path, number):
    machine(tmp_path)
    pid = tmp_path / "pid"
    program(tmp_path / "build/bin/gradient_test", f"echo $$ >> {pid} && exec sleep 60\n")
    with subprocess.Popen(command(tmp_path, "--only=gradients"), env=environment(tmp_path), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while not pid.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(20) != 0
    assert not any(map(is_there, pid.read_text().split()))


def test_a_benchmark_that_ends_early_leaves_the_rows_that_it_has_printed(tmp_path):
    ready_to_time(tmp_path)
    for then, result in (("kill -9 $$", "failed with status -9"), ("exec sleep 60", "took more than ")):
        program(tmp_path / "build/bin/gpu_bench", f"{ROWS}echo '{{\"what\": '\n{then}\n")
        assert check(tmp_path, "--seconds=3").returncode == 1
        assert [row["what"] for row in record_of(tmp_path)["timed"]][:4] == ["matmul", "add", "attention", "nothing"]
        assert results(tmp_path)[0].startswith(result)


# As an error that ends the use of a GPU in a process: the others go on.
SHARD = """echo "$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS"
case $GTEST_SHARD_INDEX in 3|7) echo '[  FAILED  ] Tables/OpParity.A/relu, where'; exit 1;; esac
"""


def test_tests_are_dealt_out_to_processes(tmp_path):
    machine(tmp_path)
    program(tmp_path / "build/bin/op_parity_test", SHARD)
    done = check(tmp_path, "--quick", "--only=operators", "--jobs=5")
    assert done.returncode == 1, done.stderr
    told, recorded = record_of(tmp_path)["parts"]
    assert (told["processes"], told["result"]) == (16, "failed with status 1: 2 of 16 processes (3, 7)")
    assert told["failures"] == ["[  FAILED  ] Tables/OpParity.A/relu, where"] and told["failures"][0] in done.stdout
    logs = logs_of(tmp_path / "out")
    assert [logs[f"operators_{number:02}.log"].splitlines()[0] for number in range(16)] == [f"{number} of 16" for number in range(16)]
    assert recorded["result"] == "passed"


def test_recorded_calls_are_dealt_out_by_their_files(tmp_path):
    machine(tmp_path)
    program(tmp_path / "build/bin/gpu_recorded_calls", 'echo "$1" | sed s/--cases=// | tr , "\\n"\n')
    assert check(tmp_path, "--only=recorded").returncode == 0
    files = [line for text in logs_of(tmp_path / "out").values() for line in text.splitlines()]
    assert sorted(files) == sorted(str(file.with_suffix(".yaml")) for file in (ROOT / "tests/ops").glob("*/*.safetensors"))


def test_parts_are_chosen_by_words(tmp_path):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gpu_bench", ROWS)
    assert check(tmp_path, "--quick", "--only=racecheck,bounds").returncode == 0
    names = ["times against their bounds", "compute-sanitizer racecheck"]
    assert [part["part"] for part in record_of(tmp_path)["parts"]] == names
    done = check(tmp_path, "--only=nothing")
    assert done.returncode == 2 and "no part's name contains one of these words" in done.stderr


def test_of_a_long_log_the_end_is_kept(tmp_path):
    machine(tmp_path)
    program(tmp_path / "build/bin/random_program_test", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end\n")
    assert check(tmp_path, "--only=random").returncode == 0
    log = logs_of(tmp_path / "out")["random_programs.log"]
    assert len(log) == 1 << 20 and log.endswith("x\nthe end\n")


def test_rows_of_an_earlier_check_are_not_taken(tmp_path):
    ready_to_time(tmp_path)
    program(tmp_path / "build/bin/gpu_bench", ROWS)
    check(tmp_path)
    check(tmp_path, "--seconds=0")
    assert results(tmp_path)[0] == "no time was left for it" and record_of(tmp_path)["timed"] == []


def built(tmp_path, most=""):
    """A build of scripts, its library and one of the system; strip, ldd and dpkg-query for them."""
    build = tmp_path / "build"
    for name in (*PROGRAMS, "gpu_bench", "gpu_messages_mpi_tests"):
        program(build / "bin" / name, "echo records $AUTOPHI_OP_RECORDS\n")
    program(build / "lib/libours.so.0", most)
    library(build / "lib/libautophi_math.so")
    program(build / "lib/libautophi_vision.so", "")
    (build / "phi/generated").mkdir(parents=True)
    (build / "phi/generated/kernel_homes.cc").write_text('    {"conv", "vision"},\n    {"pool2d", "vision"}, {"exp", "math"},\n')
    (build / "CMakeCache.txt").write_text("AUTOPHI_CUDA_ARCH:STRING=90-real\n")
    program(tmp_path / "path/nvcc", "echo release 13.7\n")
    program(tmp_path / "path/strip", 'cp "$4" "$3"\n')
    program(tmp_path / "path/ldd", f"echo ' libours.so.0 => {build}/lib/libours.so.0 (0x1)'\necho ' libm.so.6 => /lib/libm.so.6 (0x1)'\n"
            "case $1 in *ucx*) echo ' libucp.so.0 => /lib/libucp.so.0 (0x1)';; esac\n")
    program(tmp_path / "path/objdump", "printf '    0x0 0x00 03 GLIBC_2.9\\n    0x1 0x00 02 GLIBC_2.36\\n    0x2 0x00 04 GLIBCXX_3.4.30\\n'\n")
    components = tmp_path / "components"
    for name in ("mca_pml_ob1.so", "mca_pml_ucx.so"):
        program(components / name, "")
    (tmp_path / "texts").mkdir()
    program(tmp_path / "path/ompi_info", f"echo path:pkglibdir:{components}; echo path:pkgdatadir:{tmp_path / 'texts'}\n")
    program(tmp_path / "path/mpirun", "exit 1\n")


def test_a_bundle_checks_without_the_tree(tmp_path):
    built(tmp_path)
    done = check(tmp_path, f"--bundle={tmp_path / 'bundle'}")
    assert done.returncode == 0, done.stderr
    assert "GPUs 90-real" in done.stdout
    size = re.search(re.escape(f"{tmp_path / 'bundle'}.tar.xz: ") + r"(\d+\.\d) MB", done.stdout)
    archive = (tmp_path / "bundle.tar.xz").stat().st_size / 1e6
    assert size and archive > 0.5 and abs(float(size.group(1)) - archive) <= 0.1, done.stdout
    assert "It needs Linux with glibc 2.36, libstdc++ with GLIBCXX 3.4.30 or newer, python3, " in done.stdout
    assert "libcublasLt.so.13 of CUDA and libnccl.so.2 (NCCL 2.27 or newer;" in done.stdout
    assert not (tmp_path / "bundle/lib/libm.so.6").exists(), "glibc is the machine's"
    assert [file.name for file in (tmp_path / "bundle/mpi/components").iterdir()] == ["mca_pml_ob1.so"], "no fast networks"
    assert (tmp_path / "bundle/lib/libours.so.0").exists() and (tmp_path / "bundle/lib/libautophi_vision.so").exists()
    machine(tmp_path, ())
    os.remove(tmp_path / "path/nvcc")
    mpirun = "test $OMPI_MCA_mca_base_component_path = ${0%/bin/*}/components && echo rank 1 ends itself; case $* in *DISABLED*) exit 1;; esac\n"
    program(tmp_path / "bundle/mpi/bin/mpirun", mpirun)
    program(tmp_path / "path/ldd", "echo ' libm.so.6 => not found'; echo \"$1: version \\`GLIBC_2.36' not found (required by $1)\" >&2; exit 1\n")
    done = subprocess.run([tmp_path / "bundle/tools/gpu_check", "--quick"], cwd=tmp_path, capture_output=True, text=True,
                          env=environment(tmp_path), check=False)
    assert done.returncode == 0, done.stderr
    assert "programs do not start without GLIBC_2.36, libm.so.6; it needs Linux with glibc 2.36, " in done.stdout
    records = tmp_path / "bundle/tests/ops"
    assert f"records {records}" in logs_of(tmp_path / "gpu_check")["gradients_00.log"]
    carried, here = (sorted(str(file.relative_to(folder)) for file in folder.glob("*/*.*")) for folder in (records, ROOT / "tests/ops"))
    assert carried == [name for name in here if name.endswith((".yaml", ".safetensors"))]
    said = subprocess.run([sys.executable, "-B", tmp_path / "bundle/benchmarks/torch_on_gpu", "none"], capture_output=True, text=True,
                          check=False)
    assert (said.returncode, said.stdout) == (78, "gpu_bench has timed no steps to compare with\n")
    written, about = (json.loads((tmp_path / name).read_text()) for name in ("gpu_check/gpu_check.json", "bundle/bundle.json"))
    assert (written["commit"], written["cuda"]) == (about["commit"], "release 13.7") == (about["commit"], about["cuda"])


def test_a_bundle_says_why_there_is_none(tmp_path):
    built(tmp_path, most=random.Random(1).randbytes(600_000).hex())
    folder = tmp_path / "bundle"
    done = check(tmp_path, f"--bundle={folder}", "--megabytes=1")
    assert done.returncode == 1 and "more than 1; build for one kind of GPU" in done.stderr
    assert not (tmp_path / "bundle.tar.xz").exists()
    done = check(tmp_path, f"--bundle={folder}")
    assert done.returncode == 1 and f"{folder} is not empty" in done.stderr
    done = check(tmp_path, f"--build={folder}", f"--bundle={tmp_path / 'other'}")
    assert done.returncode == 1 and "is already a bundle; copy it" in done.stderr
    os.remove(tmp_path / "build/bin/gpu_bench")
    done = check(tmp_path, f"--bundle={tmp_path / 'other'}")
    assert done.returncode == 1 and "gpu_bench does not exist; build it" in done.stderr
    program(tmp_path / "build/bin/gpu_bench", "")
    program(tmp_path / "path/ldd", "echo ' libours.so.0 => not found'\n")
    done = check(tmp_path, f"--bundle={tmp_path / 'third'}")
    assert done.returncode == 1 and "op_parity_test needs libours.so.0, which is missing" in done.stderr
