"""Writes cases with a program of ours and compares them under JAX (compare_stablehlo.py).

    python run_with_jax.py --environment=DIR --cases=PROGRAM --folder=DIR [--devices=8]

The environment is made with JAX from PyPI where it is missing. Exit status 77 (ctest: skipped) if
that cannot be done, without network for example.
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def make_environment(environment):
    """Whether there is one now; says why where not."""
    requirements = HERE / "jax_requirements.txt"
    try:
        venv.create(environment, with_pip=True)
        command = [environment / "bin" / "python", "-m", "pip", "install", "-q", "--retries=1"]
        subprocess.run([*command, "--timeout=20", "-r", requirements], check=True)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"SKIPPED: no environment with JAX in {environment}: {error}\n"
              "It needs python3-venv (tools/setup) and PyPI; or name one that has the packages of "
              f"{requirements.name}: cmake -DAUTOPHI_JAX_ENVIRONMENT=DIR", flush=True)
        return False
    return True


def has_packages(python):
    """Whether it is an interpreter that finds what is needed, whoever installed it."""
    check = "import jax, jaxlib, ml_dtypes, numpy"
    return python.exists() and subprocess.run([python, "-c", check], check=False,
                                              capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environment", type=Path, required=True)
    parser.add_argument("--cases", required=True, help="program that writes cases into a folder")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--devices", default="8")
    args = parser.parse_args()
    python = args.environment / "bin" / "python"
    if not has_packages(python) and not make_environment(args.environment):
        sys.exit(SKIPPED)
    shutil.rmtree(args.folder, ignore_errors=True)
    args.folder.mkdir(parents=True)
    subprocess.run([args.cases, args.folder], check=True)
    compare = [python, HERE / "compare_stablehlo.py", args.folder, f"--devices={args.devices}"]
    sys.exit(subprocess.run(compare, check=False).returncode)


if __name__ == "__main__":
    main()
