"""Writes what tools/gpu_check runs into one folder, for a machine with a GPU and without this tree.

Beside the driver that machine needs libcublasLt.so of CUDA, libnccl.so.2 (NCCL 2.27 or newer) for messages between GPUs, and the
Debian packages of the libraries that ours are linked with, which bundle.json names.
"""

import json
import pathlib
import re
import shutil
import subprocess

MOST_BYTES = 60_000_000
PROGRAMS = ("op_parity_test", "gradient_test", "gpu_recorded_calls", "random_program_test", "gpu_kernel_tests", "gpu_bench")
MPI_PROGRAM = "gpu_messages_mpi_tests"
OF_NCCL = ("gpu_messages_tests", MPI_PROGRAM)  # where the build has it
TABLES = "tests/api/ops"
RECORDED = ("recorded", "differences")  # folders there
CHECK = ("tools/gpu_check", "tools/gpu_bundle.py", "tools/gpu_machine.py", "benchmarks/torch_on_gpu")
ABOUT = "bundle.json"


class BundleError(Exception):
    """Why there is no bundle, and what to do."""


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BundleError(f"{' '.join(str(word) for word in command)}: {done.stderr.strip()}")
    return done.stdout


def libraries_of(program):
    """(name, path) of each shared library that a program loads; the path is "not found" where there is none."""
    return re.findall(r"^\s*(\S+) => (not found|/\S+)", output_of("ldd", program), re.MULTILINE)


def debian_packages(paths):
    """Those that the libraries belong to, as far as dpkg knows them."""
    packages = set()
    for path in paths:
        # Where /lib is a link, dpkg knows a file by one of its two names.
        for name in (path, path.removeprefix("/usr"), f"/usr{path}", pathlib.Path(path).resolve()):
            found = subprocess.run(["dpkg-query", "-S", str(name)], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                packages.add(found.stdout.split(":")[0])
                break
    return sorted(packages)


def setting(build, name):
    """A value of a build's CMakeCache.txt, or "" where it has none."""
    path = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", path.read_text(), re.MULTILINE) if path.exists() else None
    return found.group(1) if found else ""


def copy_stripped(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    output_of("strip", "--strip-unneeded", "-o", target, source)
    target.chmod(0o755)


def programs_of(build):
    """Those that gpu_check runs; of those with NCCL what the build has."""
    of_nccl = [name for name in OF_NCCL if (build / "bin" / name).exists()]
    return [build / "bin" / name for name in (*PROGRAMS, *of_nccl)]


def packages_for(folder, libraries):
    """What apt-get is to install for a bundle: mpirun, too, where it has programs of several processes."""
    of_mpi = ["openmpi-bin"] if (folder / "bin" / MPI_PROGRAM).exists() else []
    return sorted({*debian_packages(libraries), *of_mpi})


def copy_programs(build, folder):
    """The programs with the build's own libraries; returns what they need of the system."""
    needed = set()
    for program in programs_of(build):
        if not program.exists():
            raise BundleError(f"{program} is not there; build it (with CUDA and AUTOPHI_BENCHMARKS)")
        copy_stripped(program, folder / "bin" / program.name)
        for name, path in libraries_of(program):
            if path == "not found":
                raise BundleError(f"{program.name} needs {name}, which is not here")
            if pathlib.Path(path).is_relative_to(build):
                copy_stripped(path, folder / "lib" / name)
            else:
                needed.add(path)
    # No program names the kernel libraries: the core library loads them from its folder.
    homes = (build / "phi/generated/kernel_homes.cc").read_text()
    for name in sorted(set(re.findall(r'\{"\w+", "(\w+)"\}', homes))):
        copy_stripped(build / f"lib/libautophi_{name}.so", folder / f"lib/libautophi_{name}.so")
    return needed


def copy_checks(root, folder):
    """The tables of calls that the programs go through, gpu_check itself, and PyTorch's side of a step."""
    recorded = (file for name in RECORDED for file in root.glob(f"{TABLES}/{name}/*.*"))
    for table in [*root.glob(f"{TABLES}/*.yaml"), *root.glob(f"{TABLES}/refusals/*.yaml"), *recorded]:
        target = folder / table.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(table, target)
    for file in (*CHECK, *(path.relative_to(root) for path in root.glob("benchmarks/peers/*.py"))):
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / file, target)


def write(root, build, folder, facts):
    """Makes the folder; returns what is known of it, `facts` among that. Errors: BundleError."""
    if read(build):
        raise BundleError(f"{build} is a bundle itself; copy it")
    if folder.exists() and any(folder.iterdir()):
        raise BundleError(f"{folder} is not empty; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    needed = copy_programs(build, folder)
    copy_checks(root, folder)
    about = {**facts, "architectures": setting(build, "AUTOPHI_CUDA_ARCH"), "debian_packages": packages_for(folder, needed)}
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    nbytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if nbytes > MOST_BYTES:
        raise BundleError(f"{folder} has {nbytes / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}; build for one kind of GPU "
                          f"(-DAUTOPHI_CUDA_ARCH=90-real)")
    return {**about, "megabytes": round(nbytes / 1e6, 1)}


def read(folder):
    """What is known of a bundle, or None where the folder is none."""
    path = folder / ABOUT
    return json.loads(path.read_text()) if path.exists() else None
