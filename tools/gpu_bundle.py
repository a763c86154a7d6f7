"""Writes what tools/gpu_check runs into one folder and one archive, for a machine with a GPU and without this
tree.

Besides the driver, that machine needs libcublasLt.so of CUDA, libnccl.so.2 (NCCL 2.27 or newer) for messages
between GPUs, python3, and glibc and libstdc++ as old as bundle.json says, or newer. All other files are bundled.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import bundled_libraries

PROGRAMS = ("op_parity_test", "gradient_test", "gpu_recorded_calls", "random_program_test", "gpu_kernel_tests", "gpu_bench")
MPI_PROGRAM = "gpu_messages_mpi_tests"
OF_NCCL = ("gpu_messages_tests", MPI_PROGRAM)  # where the build has it
RECORDS = "tests/ops"  # of operators
CHECK = ("tools/gpu_check", "tools/gpu_bundle.py", "tools/gpu_machine.py", "tools/bundled_libraries.py", "benchmarks/torch_on_gpu")
ABOUT = "bundle.json"


class BundleError(Exception):
    """The reason that no bundle is written, and the remedy."""


def setting(build, name):
    """A value of a build's CMakeCache.txt, or "" where it has none."""
    path = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", path.read_text(), re.MULTILINE) if path.exists() else None
    return found.group(1) if found else ""


def programs_of(build):
    """The programs that gpu_check runs; those with NCCL only if the build has them."""
    of_nccl = [name for name in OF_NCCL if (build / "bin" / name).exists()]
    return [build / "bin" / name for name in (*PROGRAMS, *of_nccl)]


def copy_programs(build, folder):
    """The programs with the libraries that they load, the build's own and others, and mpirun where one of them is of several processes."""
    programs = programs_of(build)
    for program in programs:
        if not program.exists():
            raise BundleError(f"{program} does not exist; build it (with CUDA and AUTOPHI_BENCHMARKS)")
        bundled_libraries.copy_stripped(program, folder / "bin" / program.name)
    # No program names the kernel libraries: the core library loads them from its folder.
    homes = (build / "phi/generated/kernel_homes.cc").read_text()
    kernels = [build / f"lib/libautophi_{name}.so" for name in sorted(set(re.findall(r'\{"\w+", "(\w+)"\}', homes)))]
    for library in kernels:
        bundled_libraries.copy_stripped(library, folder / bundled_libraries.LIBRARIES / library.name)
    bundled_libraries.copy_libraries_of([*programs, *kernels], folder)
    if (folder / "bin" / MPI_PROGRAM).exists():
        bundled_libraries.copy_open_mpi(folder)


def copy_checks(root, folder):
    """The records of operators that the programs read, gpu_check itself, and PyTorch's version of a step."""
    for record in (file for suffix in ("yaml", "safetensors") for file in root.glob(f"{RECORDS}/*/*.{suffix}")):
        target = folder / record.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(record, target)
    for file in (*CHECK, *(path.relative_to(root) for path in root.glob("benchmarks/peers/*.py"))):
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / file, target)


def pack(folder):
    """One archive of the folder, next to it."""
    archive = folder.with_name(f"{folder.name}.tar.xz")
    done = subprocess.run(["tar", "--create", "--xz", f"--file={archive}", f"--directory={folder.parent}", folder.name],
                          capture_output=True, text=True, env={**os.environ, "XZ_OPT": "-6 --threads=0"}, check=False)
    if done.returncode != 0:
        raise BundleError(f"tar: {done.stderr.strip()}")
    return archive


def write(root, build, folder, facts, most_megabytes):
    """Writes the folder and its archive; returns its description, including `facts`. Errors: BundleError, CarryError."""
    folder = folder.absolute()
    if read(build):
        raise BundleError(f"{build} is already a bundle; copy it")
    if folder.exists() and any(folder.iterdir()):
        raise BundleError(f"{folder} is not empty; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    copy_programs(build, folder)
    copy_checks(root, folder)
    about = {**facts, "architectures": setting(build, "AUTOPHI_CUDA_ARCH"),
             "needs": bundled_libraries.needs_of(bundled_libraries.programs_and_libraries(folder))}
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    archive = pack(folder)
    megabytes = archive.stat().st_size / 1e6
    if megabytes > most_megabytes:
        archive.unlink()
        raise BundleError(f"packed it has {megabytes:.1f} MB, more than {most_megabytes:.0f}; build for one kind of GPU "
                          f"(-DAUTOPHI_CUDA_ARCH=90-real), or raise the limit (--megabytes)")
    return {**about, "archive": str(archive), "megabytes": round(megabytes, 1)}


def read(folder):
    """The description of a bundle, or None if the folder is not a bundle."""
    path = folder / ABOUT
    return json.loads(path.read_text()) if path.exists() else None
