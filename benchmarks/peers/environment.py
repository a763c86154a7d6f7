"""The virtual environment of PyTorch's side: created once, in the user's cache folder."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

TORCH_VERSION = "2.15.0"
_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# PyPI's wheel for Linux is the CUDA build and does not load without the CUDA libraries.
_PYPI_DISK_BYTES = 10 * 1024**3
_PIP_TIMEOUT_S = 1800


class SetupError(Exception):
    """PyTorch cannot be installed here; the message has the reason and a remedy."""


def default_folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "autophi" / f"compare-torch-{TORCH_VERSION}"


def installed_version(folder: Path) -> str:
    """The version that `import torch` finds there, e.g. 2.15.0+cpu; empty if it does not load."""
    python = folder / "bin" / "python"
    if not python.exists():
        return ""
    result = subprocess.run([python, "-c", "import torch; print(torch.__version__)"],
                            capture_output=True, text=True, check=False, timeout=300)
    return result.stdout.strip() if result.returncode == 0 else ""


def ensure(folder: Path, say: Callable[[str], None]) -> Path:
    """The interpreter of an environment with PyTorch, which is created if it does not exist.

    Raises SetupError.
    """
    lock_file = folder.with_name(folder.name + ".lock")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_file.open("w", encoding="ascii")
    except OSError as error:
        raise SetupError(f"cannot write {lock_file}: {error.strerror}; --venv names another folder"
                         ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another compare may be installing
        if not _is_ready(folder):
            _install(folder, say)
    return folder / "bin" / "python"


def _is_ready(folder: Path) -> bool:
    return installed_version(folder).split("+")[0] == TORCH_VERSION


def _install(folder: Path, say: Callable[[str], None]) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        raise SetupError(f"{folder} is no virtual environment and not empty; pass a folder "
                         "that does not exist as --venv")
    say(f"virtual environment in {folder}")
    _run([sys.executable, "-m", "venv", folder])
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"]
    packages = [f"torch=={TORCH_VERSION}", "numpy"]
    say(f"pip install {packages[0]}: the CPU build, from {_CPU_INDEX}")
    try:
        _run([*pip, "--retries", "1", "--timeout", "20", "--index-url", _CPU_INDEX, *packages])
    except SetupError:
        say("not available there; installing from PyPI, whose build includes the CUDA libraries: 3 GB "
            "to download, 6 GB on disk")
        _require_disk(folder)
        _run([*pip, *packages])
    if not _is_ready(folder):
        raise SetupError(f"PyTorch is installed but does not load; see `{folder}/bin/python -c "
                         "'import torch'`, or remove the folder and try again")


def _require_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _PYPI_DISK_BYTES:
        raise SetupError(f"{free / 1e9:.1f} GB are free for {folder}, {_PYPI_DISK_BYTES / 1e9:.0f} "
                         "GB are needed; --venv names a folder elsewhere")


def _run(command: list) -> None:
    words = " ".join(map(str, command))
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                check=False, timeout=_PIP_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"`{words}` took longer than {_PIP_TIMEOUT_S} s") from error
    if result.returncode != 0:
        output = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
        raise SetupError("\n  ".join([f"`{words}` failed:", *output[-6:]]))
