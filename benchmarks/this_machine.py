"""What scripts that run jobs here share."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


def processor() -> str:
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return names[0] if names else "unknown"
