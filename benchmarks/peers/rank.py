"""Starts the process of one rank and records its peak resident memory.

    python3 rank.py FOLDER COMMAND...

The peak (VmHWM of /proc, of this process alone and not of compilers that it starts) goes to
FOLDER/peak.PID as bytes. It is read while the process runs, as it cannot be read afterwards; it
never falls, so a reading can only miss growth within the last interval.
"""

import os
import signal
import subprocess
import sys
import time

_INTERVAL_S = 0.02


def peak_bytes(pid: int) -> int:
    """0 for a process that has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def main() -> int:
    folder, command = sys.argv[1], sys.argv[2:]
    child = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    peak = 0
    while child.poll() is None:
        peak = max(peak, peak_bytes(child.pid))
        time.sleep(_INTERVAL_S)
    with open(os.path.join(folder, f"peak.{os.getpid()}"), "w", encoding="ascii") as out:
        out.write(str(peak))
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main())
