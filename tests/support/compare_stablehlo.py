"""Runs exported cases with JAX and compares what comes out with our own execution.

    python compare_stablehlo.py FOLDER [--devices=8] [--only=NAME]

Each folder in FOLDER is a case: module.mlir, arg0.npy ..., out0.npy ... and tolerance.txt, the
greatest difference relative to the largest magnitude of an output. All run in one process, since
JAX takes seconds to start. Exit status 1 if any differs.
"""

import argparse
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from run_stablehlo import Runner


def load_all(case, kind):
    arrays = []
    while (path := case / f"{kind}{len(arrays)}.npy").exists():
        array = np.load(path)
        # NumPy's format has no bfloat16: two bytes of anything are one.
        arrays.append(array.view(ml_dtypes.bfloat16) if array.dtype == "V2" else array)
    return arrays


def difference(got, expected, tolerance):
    """What is wrong, or an empty text."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
    if expected.size == 0:
        return ""
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    ours, theirs = expected.astype(wide), got.astype(wide)
    finite = np.isfinite(ours)
    if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True):
        return "other infinities or NaN"
    scale = max(np.abs(ours[finite]).max(initial=0.0), 1e-30)
    gap = np.abs(ours - theirs)[finite].max(initial=0.0) / scale
    return "" if gap <= tolerance else f"differs by {gap:.3g} of its largest, more than {tolerance}"


def check(runner, case):
    """The case's failures."""
    try:
        got = runner.run((case / "module.mlir").read_text(), load_all(case, "arg"))
    except Exception as error:  # whatever JAX says of a module is the test's finding
        return [f"{type(error).__name__}: {str(error)[:2000]}"]
    expected = load_all(case, "out")
    if len(got) != len(expected):
        return [f"{len(got)} outputs instead of {len(expected)}"]
    tolerance = float((case / "tolerance.txt").read_text())
    texts = [difference(g, e, tolerance) for g, e in zip(got, expected)]
    return [f"out{i} {text}" for i, text in enumerate(texts) if text]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--only", help="the one case of this name")
    args = parser.parse_args()
    cases = sorted(p.parent for p in args.folder.glob("*/module.mlir"))
    if args.only:
        cases = [c for c in cases if c.name == args.only]
    if not cases:
        sys.exit(f"no case in {args.folder}")
    runner = Runner(args.devices)
    failed = 0
    for case in cases:
        failures = check(runner, case)
        failed += bool(failures)
        for failure in failures:
            print(f"{case.name}: {failure}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
