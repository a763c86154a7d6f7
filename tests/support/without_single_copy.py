"""Runs a command as in a container that forbids processes to read each other's memory:
    python3 tests/support/without_single_copy.py mpirun -n 4 build/bin/reshard_vs_mpi
A seccomp filter answers process_vm_readv and process_vm_writev with EPERM, for all children too. Exit
status 77 (ctest: skipped) where no filter can be set."""

import ctypes
import errno
import os
import platform
import struct
import sys

# Of the first of the two calls; the second follows it.
CALL_NUMBERS = {"x86_64": 310, "aarch64": 270}


def forbid_single_copy() -> None:
    """For this process and what it starts. Raises OSError; KeyError on other processors."""
    load_word, jump_if_equal, answer = 0x20, 0x15, 0x06
    refused, allowed = 0x00050000 | errno.EPERM, 0x7FFF0000
    first = CALL_NUMBERS[platform.machine()]
    steps = [(load_word, 0, 0, 0), (jump_if_equal, 1, 0, first), (jump_if_equal, 0, 1, first + 1),
             (answer, 0, 0, refused), (answer, 0, 0, allowed)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    for words in ((set_no_new_privileges, 1, 0, 0, 0), (set_seccomp, mode_filter, program)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl refuses the filter")


if __name__ == "__main__":
    try:
        forbid_single_copy()
    except (OSError, KeyError) as error:
        print(f"no filter: {error!r}")
        sys.exit(77)
    os.execvp(sys.argv[1], sys.argv[1:])
