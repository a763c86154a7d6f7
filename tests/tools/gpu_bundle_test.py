"""A bundle of tools/gpu_check, made of this build: its programs start with the folder alone, as far as that shows without a GPU.

Usage: gpu_bundle_test.py BUILD_DIR
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import gpu_machine  # noqa: E402
NO_GPU = 77


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


def check_programs(bundle, tables):
    for program in (bundle / "bin").iterdir():
        ours = [line for line in run("ldd", program).splitlines() if "libautophi" in line]
        assert ours and all(f"{bundle}/" in line for line in ours), f"{program.name} takes {ours}"
    assert (bundle / "lib/libautophi_vision.so").exists()
    assert "GpuAttention" in run(bundle / "bin/gpu_kernel_tests", "--gtest_list_tests")
    calls = bundle / "bin/gpu_recorded_calls"
    assert run(calls, f"--cases={tables}/recorded/relu.yaml", f"--differences={tables}/differences").endswith(" passed, 0 failed\n")
    # What the programs go through are the bundle's tables.
    parity = bundle / "bin/op_parity_test"
    run(parity, "--op=relu", "--gtest_brief=1", AUTOPHI_OP_TABLES=str(tables))
    rows = "UnaryMathRows"
    assert rows in run(parity, "--gtest_list_tests", AUTOPHI_OP_TABLES=str(tables))
    (tables / "unary_math.yaml").unlink()
    assert rows not in run(parity, "--gtest_list_tests", AUTOPHI_OP_TABLES=str(tables))


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        written, bundle = pathlib.Path(folder, "written"), pathlib.Path(folder, "moved")
        print(run(ROOT / "tools/gpu_check", f"--build={build}", f"--bundle={written}"))
        written.rename(bundle)
        if not has_gpu():
            run(bundle / "bin/gpu_bench", status=NO_GPU)
            run(bundle / "tools/gpu_check", f"--out={folder}/out", status=NO_GPU)
        check_programs(bundle, bundle / "tests/api/ops")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
