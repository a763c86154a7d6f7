"""What tests share: worlds of ranks, and programs that run in processes of their own."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def run_program():
    """run(text, ranks=None, status=0): the program in a new process, or under mpirun; its output."""

    def run(text, ranks=None, status=0, timeout=120):
        command = [sys.executable, "-c", text]
        if ranks:
            mpirun = os.environ.get("AUTOPHI_MPIRUN") or "mpirun"
            command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                       *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL)
        said = f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert (done.returncode == 0) == (status == 0), said
        done.both = done.stdout + done.stderr
        return done

    return run
