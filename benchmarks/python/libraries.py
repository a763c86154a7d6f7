"""The interpreters of the libraries, installed from PyPI if they are missing, and their processes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent))
from peers.environment import SetupError, default_folder, ensure  # noqa: E402: from benchmarks/peers

# One thread each, and no search for other devices.
_SETTING = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "GLOG_minloglevel": "2", "TF_CPP_MIN_LOG_LEVEL": "2"}
# Paddle's later wheels for CPUs end with a segmentation fault in a distributed call.
_PACKAGES = {"jax": ["jax==0.10.2"], "paddle": ["paddlepaddle==3.0.0", "setuptools"]}
_PIP_TIMEOUT_S = 900


def python_of(library, build):
    """The interpreter that has the library. Raises SetupError."""
    if library == "autophi":
        return build / "python_environment" / "bin" / "python"
    if library == "torch":
        return ensure(default_folder(), lambda text: print(text, file=sys.stderr))
    folder = default_folder().with_name("compare-" + _PACKAGES[library][0].replace("==", "-"))
    python = folder / "bin" / "python"
    if not python.exists() or not _has(python, library):
        _run([sys.executable, "-m", "venv", folder])
        _run([python, "-m", "pip", "install", "-q", *_PACKAGES[library]])
    return python


def _has(python, library):
    check = f"import importlib.util as u, sys; sys.exit(u.find_spec('{library}') is None)"
    return subprocess.run([python, "-c", check], check=False).returncode == 0


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PIP_TIMEOUT_S)
    if done.returncode:
        raise SetupError((done.stderr.strip().splitlines() or [f"{command[0]} failed"])[-1])


class Peer:
    """A library in a separate process."""

    def __init__(self, library, python, build):
        path = {"PYTHONPATH": str(build / "python")} if library == "autophi" else {}
        environment = {**os.environ, **_SETTING, **path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen([python, _HERE / "worker.py", library], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment)
        said = self._answer()
        self.library, self.version = library, said["version"]
        self.import_seconds, self.calls = said["import"], said["calls"]

    def nanoseconds(self, call):
        self._process.stdin.write(call + "\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self):
        self._process.stdin.close()
        self._process.wait()

    def _answer(self):
        for line in self._process.stdout:
            if line.startswith("answer "):  # libraries say things of their own on the same stream
                return json.loads(line.removeprefix("answer "))
        self._process.wait()
        self._errors.seek(0)
        raise SetupError((self._errors.read().strip().splitlines() or ["its process ended"])[-1])
