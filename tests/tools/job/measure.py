"""System measurements of a command: the largest process, requested memory, pages of files that are read."""

import ctypes
import mmap
import os
import resource
import subprocess

import launch

MIB = 1 << 20
PAGE = mmap.PAGESIZE


class Measured:
    """A finished command: its output, and VmHWM of its largest process (under mpirun: of a rank), in bytes."""

    def __init__(self, outcome, resident_peak):
        self.status = outcome.status
        self.output = outcome.output
        self.resident_peak = resident_peak


def run(processes, *args, address_space=None, threads=1):
    """Runs the command; with `address_space`, what would make a process larger than these bytes fails. `threads`: of
    OpenBLAS."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    process = subprocess.Popen(
        launch.command(processes, *args),
        cwd=launch.SOURCE_DIR,
        env={**launch.environment(), "OPENBLAS_NUM_THREADS": str(threads)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=limit if address_space else None,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return Measured(launch.Outcome(process.returncode, output), usage.ru_maxrss * 1024)


def make_sparse(path, size):
    """A file of zeros of which nothing is in memory; a page comes there when it is read."""
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def bytes_in_memory(path):
    """Of the file's pages."""
    size = os.path.getsize(path)
    pages = (ctypes.c_ubyte * ((size + PAGE - 1) // PAGE))()
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), size) as mapping:
        view = ctypes.c_char.from_buffer(mapping)
        mincore = ctypes.CDLL(None, use_errno=True).mincore
        failed = mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(size), pages)
        del view
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return PAGE * sum(page & 1 for page in bytes(pages) if page)
