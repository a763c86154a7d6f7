"""Queries of tools/gpu_check about a machine: its GPUs, and whether it has the libraries that programs need.

GPUs are those that the driver shows to programs. nvidia-smi ignores CUDA_VISIBLE_DEVICES and is missing in
containers without the capability `utility`, so it is used only for details.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys

CUBLAS, NCCL = "libcublasLt.so.13", "libnccl.so.2"  # which programs load when they first need them
_FACTS = ("driver_version", "clocks.sm", "clocks.max.sm", "power.limit", "mig.mode.current")
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CUdevice_attribute
_TO_LOAD = """
import ctypes, sys
try:
    ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(error)
"""


class NoGpu(Exception):
    """The reason that no GPU was found."""


def output_of(command, environment=None):
    """The output of a command, or None if it is missing or fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", timeout=60,
                              env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _asked(function, *args, kind=ctypes.c_int):
    """What a function of the driver writes to its first argument."""
    value = kind()
    if status := function(ctypes.byref(value), *args):
        raise NoGpu(f"{function.__name__} of the driver fails with error {status}")
    return value.value


def _gpu(driver, number):
    device = _asked(driver.cuDeviceGet, number)
    name = _asked(driver.cuDeviceGetName, 255, device, kind=ctypes.c_char * 256)
    capability = [_asked(driver.cuDeviceGetAttribute, which, device) for which in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR)]
    return {"name": name.decode(errors="replace"), "memory": _asked(driver.cuDeviceTotalMem_v2, device, kind=ctypes.c_size_t),
            "capability": "{}.{}".format(*capability)}


def gpus():
    """The newest CUDA that the driver serves, and a dict per GPU. Errors: NoGpu."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NoGpu(f"no driver: {error}") from error
    if status := driver.cuInit(0):
        raise NoGpu(f"cuInit of the driver fails with error {status}")
    version = _asked(driver.cuDriverGetVersion)
    found = [_gpu(driver, number) for number in range(_asked(driver.cuDeviceGetCount))]
    if not found:
        raise NoGpu("the driver shows no GPU to programs")
    return f"{version // 1000}.{version % 1000 // 10}", found


def facts():
    """What nvidia-smi reports about all GPUs of the machine, and the processes on them; all of it is optional."""
    text = output_of(["nvidia-smi", f"--query-gpu={','.join(_FACTS)}", "--format=csv,noheader"]) or ""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    processes = output_of(["nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader"]) or ""
    # Among them it prints warnings.
    return {"gpus": [dict(zip(_FACTS, row)) for row in rows if len(row) == len(_FACTS)], "processes": processes.splitlines()}


def service(capability, architectures):
    """How what was built for `architectures`, as CMAKE_CUDA_ARCHITECTURES, serves a GPU: "code", "ptx" that is compiled when a
    program starts, or "" where it does not."""
    gpu = tuple(int(number) for number in capability.split("."))
    found = ""
    for word in architectures.split(";"):
        match = re.fullmatch(r"(\d+)(\d)(-real|-virtual|)", word)
        if not match:
            return "code"  # a word like `native`, of which this knows nothing
        built = (int(match[1]), int(match[2]))
        if match[3] != "-virtual" and built[0] == gpu[0] and built <= gpu:
            return "code"
        if match[3] != "-real" and built <= gpu:
            found = "ptx"
    return found


def _library_folders(more):
    """Where toolkits and wheels have CUDA's libraries, which no ld.so.conf lists."""
    folders = [*more, "/usr/local/cuda/lib64", "/usr/local/cuda/lib"]
    if "CUDA_HOME" in os.environ:
        folders.append(f"{os.environ['CUDA_HOME']}/lib64")
    folders += sorted(pathlib.Path(os.path.expanduser("~/.cache/autophi/cuda")).glob("nvidia/*/lib"))  # of tools/setup --cuda
    for packages in sys.path:
        folders += sorted(pathlib.Path(packages).glob("nvidia/*/lib"))
    return [folder for folder in dict.fromkeys(map(pathlib.Path, folders))
            if any(folder.glob("libcublasLt.so.*")) or (folder / NCCL).exists()]


def with_libraries(environment, more=()):
    """The environment with those folders in LD_LIBRARY_PATH, and those of `more` that have CUDA's libraries, after the present ones."""
    there = environment.get("LD_LIBRARY_PATH")
    return {**environment, "LD_LIBRARY_PATH": ":".join([*([there] if there else []), *map(str, _library_folders(more))])}


def why_not_loaded(library, environment):
    """Why a program that is started so cannot load a library, or ""."""
    reason = output_of([sys.executable, "-c", _TO_LOAD, library], environment)
    return f"{library}: python ends, or waits for a minute" if reason is None else reason


def missing_libraries(programs, environment):
    """Libraries that programs are linked with and that are missing here, and versions that the present ones lack."""
    missing = set()
    for program in programs:
        try:
            done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, errors="replace", env=environment, check=False)
        except OSError:
            return []  # it cannot be told
        missing.update(re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE))
        missing.update(re.findall(r"version `([\w.]+)' not found", done.stdout + done.stderr))
    return sorted(missing)
