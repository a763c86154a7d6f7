"""A bundle of tools/gpu_check from this build: its programs start with the files of the archive, as far as can be checked without a GPU.

Usage: gpu_bundle_test.py BUILD_DIR
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import bundled_libraries  # noqa: E402
import gpu_machine  # noqa: E402
NO_GPU = 77
# What Debian 12 has; docs/gpu_check.md says that no newer is needed.
OLDEST = {"GLIBC": "2.36", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"}


def run(*command, status=0, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def has_gpu():
    try:
        return bool(gpu_machine.gpus())
    except gpu_machine.NoGpu:
        return False


def check_libraries(bundle):
    """All that is loaded is the bundle's own or the system's, down to the components of Open MPI."""
    environment = bundled_libraries.environment_of(bundle, {})
    files = bundled_libraries.programs_and_libraries(bundle)
    for file in files:
        lines = [line.split() for line in run("ldd", file, **environment).splitlines() if "=>" in line]
        others = [words for words in lines if not bundled_libraries.is_of_the_system(words[0]) and not words[2].startswith(f"{bundle}/")]
        assert not others, f"{file.name} takes {others}"
    needs = bundled_libraries.needs_of(files)
    newer = {name: version for name, version in needs.items() if tuple(map(int, version.split("."))) > tuple(map(int, OLDEST[name].split(".")))}
    assert "GLIBC" in needs and not newer, f"Debian 12 lacks {newer}"
    if (bundle / "bin/gpu_messages_mpi_tests").exists():
        assert run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "echo", "here", **environment) == "here\nhere\n"


def check_programs(bundle, records):
    assert (bundle / "lib/libautophi_vision.so").exists()
    assert "GpuAttention" in run(bundle / "bin/gpu_kernel_tests", "--gtest_list_tests")
    calls = bundle / "bin/gpu_recorded_calls"
    assert run(calls, f"--cases={records}/unary/relu.yaml").endswith(" passed, 0 failed\n")
    # What the programs go through are the bundle's records.
    parity = bundle / "bin/op_parity_test"
    run(parity, "--op=relu", "--gtest_brief=1", AUTOPHI_OP_RECORDS=str(records))
    rows = "UnaryMathRows"
    assert rows in run(parity, "--gtest_list_tests", AUTOPHI_OP_RECORDS=str(records))
    shutil.rmtree(records / "unary_math")
    assert rows not in run(parity, "--gtest_list_tests", AUTOPHI_OP_RECORDS=str(records))


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        written, bundle = pathlib.Path(folder, "written"), pathlib.Path(folder, "moved")
        # What is carried to a GPU is built for one kind; the build that CI has is for two.
        print(run(ROOT / "tools/gpu_check", f"--build={build}", f"--bundle={written}", "--megabytes=64"))
        bundle.mkdir()
        run("tar", "--extract", f"--file={written}.tar.xz", f"--directory={bundle}", "--strip-components=1")
        shutil.rmtree(written)
        check_libraries(bundle)
        os.environ.update(bundled_libraries.environment_of(bundle, {}))
        if not has_gpu():
            run(bundle / "bin/gpu_bench", status=NO_GPU)
            run(bundle / "tools/gpu_check", f"--out={folder}/out", status=NO_GPU)
        check_programs(bundle, bundle / "tests/ops")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
