"""Makes a Python environment with what building and testing the package needs, from PyPI, unless it is
there.

    python3 make_environment.py DIR

Exit status 1, with the reason, where that cannot be done: without network for example.
"""

import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def is_complete(environment):
    """Whether the packages are those that are wanted now, whoever installed them."""
    python = environment / "bin" / "python"
    check = ("import importlib.metadata as m, sys\n"
             "for line in open(sys.argv[1]):\n"
             "    name, _, version = line.strip().partition('==')\n"
             "    assert not name or m.version(name) == version, name")
    return python.exists() and subprocess.run([python, "-c", check, REQUIREMENTS], check=False,
                                              capture_output=True).returncode == 0


def make(environment):
    venv.create(environment, with_pip=True)
    command = [environment / "bin" / "python", "-m", "pip", "install", "-q", "--retries=1", "--timeout=15",
               "--disable-pip-version-check", "-r", REQUIREMENTS]
    subprocess.run(command, check=True, capture_output=True, text=True)


def main():
    environment = Path(sys.argv[1])
    if is_complete(environment):
        return 0
    try:
        make(environment)
    except (subprocess.CalledProcessError, OSError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        print(f"no environment with nanobind could be made in {environment}: {said[-1] if said else error}. "
              f"It needs python3-venv (tools/setup) and PyPI; or name one that has the packages of "
              f"{REQUIREMENTS}: cmake -DAUTOPHI_PYTHON_ENVIRONMENT=DIR")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
