"""Runs test_opinfo.py where PyTorch is: run.py [--part=N/M] [arguments of pytest].

PyTorch is that of AUTOPHI_TORCH_PYTHON (an interpreter), else that of tools/compare's environment in the
cache folder. Says SKIPPED, and why, where there is none: it is too large to be fetched for a test.
"""

import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_SOURCE = _HERE.parents[2]
# What torch.testing asks for besides NumPy, and what runs the test.
_NEEDED = ("expecttest", "pytest", "yaml")
_PIP_TIMEOUT_S = 240


class Missing(Exception):
    """The test cannot run here; the message says why."""


def interpreter():
    """The Python that has PyTorch."""
    sys.path.insert(0, str(_SOURCE / "benchmarks"))
    from peers.environment import default_folder, installed_version
    named = os.environ.get("AUTOPHI_TORCH_PYTHON")
    python = Path(named) if named else default_folder() / "bin" / "python"
    if not python.exists():
        raise Missing(f"no PyTorch at {python}; `tools/compare` installs it, or AUTOPHI_TORCH_PYTHON names a Python "
                      "that has it")
    if not named and not installed_version(default_folder()):
        raise Missing(f"PyTorch in {default_folder()} does not load")
    return python


def complete(python):
    """Small packages that PyTorch's wheel does not ask for, though its samples do."""
    command = [python, "-c", f"import {', '.join(_NEEDED)}"]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        return
    packages = [name.replace("yaml", "pyyaml") for name in _NEEDED]
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True,
                          check=False, timeout=_PIP_TIMEOUT_S)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise Missing(f"{python} lacks one of {', '.join(packages)}, and pip cannot install it: {last}")


def main(arguments):
    try:
        python = interpreter()
        complete(python)
    except (Missing, subprocess.TimeoutExpired) as error:
        print(f"SKIPPED: {error}")
        return 0
    return subprocess.call([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(_HERE),
                            *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
