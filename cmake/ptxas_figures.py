"""A launcher of CUDA's compiler: the report of ptxas about each kernel is written to a file next to the object.

Usage: ptxas_figures.py COMPILER ARGUMENT... -o OBJECT ...

With -Xptxas=-v ptxas writes registers, shared memory, stack and spills of every kernel to stderr, some ten thousand lines in a
build. They are kept in OBJECT.ptxas, which tests/tools/kernel_figures.py reads; all other output of the compiler is
printed, and the launcher returns its status. A compiler cache runs after the launcher: it replays the cached output.
"""

import re
import subprocess
import sys

# Others of ptxas's words (a loss of speed, say) are for who builds.
FIGURES = re.compile(rb"ptxas info    : (\d+ bytes gmem|Compiling entry function |Function properties for |Used \d+ reg|"
                     rb"Compile time = )|    \d+ bytes stack frame, ")


def main(command):
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    lines = done.stderr.splitlines(keepends=True)
    sys.stderr.buffer.write(b"".join(line for line in lines if not FIGURES.match(line)))
    if done.returncode == 0 and "-o" in command:
        with open(command[command.index("-o") + 1] + ".ptxas", "wb") as file:
            file.write(b"".join(line for line in lines if FIGURES.match(line)))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
