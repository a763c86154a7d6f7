"""What scripts that run jobs here share."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
AUTOPHI = ROOT / "build/bin/autophi"


def mpirun(ranks: int, command: list[str], allows_failure: bool = False) -> subprocess.CompletedProcess:
    """Run processes of one thread each. A failure ends the script with their output, unless it is allowed."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", *command], cwd=ROOT, env=environment,
                          capture_output=True, text=True)
    if done.returncode and not allows_failure:
        sys.exit(f"{Path(sys.argv[0]).name}: {' '.join(command)} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Cost(NamedTuple):
    seconds: float
    cpu_seconds: float
    rss_bytes: int


def on_one_core(args: list[str]) -> Cost:
    """Run a process on the first core that this one may use. A failure ends the script."""
    core = min(os.sched_getaffinity(0))
    begin = time.monotonic()
    pid = os.posix_spawn("/usr/bin/taskset", ["taskset", "-c", str(core), *args], os.environ)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{Path(sys.argv[0]).name}: failed: {' '.join(args)}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def processor() -> str:
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return names[0] if names else "unknown"
