"""One library in a separate process, timed on request: worker.py LIBRARY.

Prints as JSON, a line each: its version, the seconds of its import and the names of its calls; then, for each
name that it reads, the nanoseconds of one call, the minimum of a few short measurements.
"""

import gc
import importlib
import json
import sys
import time
from pathlib import Path

_LEAST_SECONDS, _MEASUREMENTS = 0.02, 3


def seconds_of(call, times):
    loop = iter(range(times))
    begin = time.perf_counter()
    for _ in loop:
        call()
    return time.perf_counter() - begin


def nanoseconds_of(call):
    times, took = 16, 0.0
    while (took := seconds_of(call, times)) < _LEAST_SECONDS:
        times = max(2 * times, int(1.2 * _LEAST_SECONDS / (took + 1e-9) * times))
    return min(took, *(seconds_of(call, times) for _ in range(_MEASUREMENTS - 1))) / times * 1e9


def import_seconds(library):
    begin = time.perf_counter()
    importlib.import_module(library)
    return time.perf_counter() - begin


def main(library):
    sys.path[0] = ""  # not the folder of this file
    seconds = import_seconds(library)
    sys.path.insert(1, str(Path(__file__).resolve().parent))
    module = importlib.import_module(f"calls.{library}")
    run = getattr(module, "run", lambda body: body())
    run(lambda: serve(module, seconds))


def serve(module, seconds):
    calls = module.calls()
    print("answer", json.dumps({"version": module.VERSION, "import": seconds, "calls": list(calls)}), flush=True)
    gc.disable()
    for line in sys.stdin:
        print("answer", json.dumps(nanoseconds_of(calls[line.rstrip("\n")])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
