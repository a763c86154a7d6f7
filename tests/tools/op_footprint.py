"""Lists the files of the product that name an operator: what you edit to add one like it.

    python3 tests/tools/op_footprint.py swiglu

A file names an operator if the operator's name is in it in any case, within longer names too (SwiGLUInferSpmd), comments
left out. Therefore the list is right for names that are no common word: `swiglu`, `erfinv`, not `add`. Files that only call
operators (CALLERS) are left out. A file of no known part is listed as "other"; test_claims.py fails for it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("yaml", "phi", "distributed", "api", "tools", "api_gen", "cmake", "python")
SUFFIXES = (".h", ".cc", ".cu", ".cuh", ".yaml", ".txt", ".cmake", ".py", ".pyi", ".j2")
CALLERS = re.compile(r"api/nn/|api/training/|api/generation/|python/")
TEMPLATES = "phi/kernels/templates/"

PARTS = [
    ("entry", r"yaml/"),
    ("shape function", r"phi/infermeta/"),
    ("functor", r"phi/kernels/functors/"),
    ("shared kernel", TEMPLATES),
    ("CPU kernel", r"phi/kernels/cpu/"),
    ("GPU kernel", r"phi/kernels/gpu/"),
    ("kernel library", r"phi/kernels/CMakeLists\.txt"),
    ("rule", r"distributed/spmd/rules/"),
    ("composite", r"api/autograd/composite"),
    ("lowering", r"api/stablehlo/"),
    ("rate", r"api/simulation/calibration/measured_families\.cc|distributed/simulator/machines/"),
    ("example of rule", r"tools/spmd/document_examples\.cc"),
    ("Paddle's name", r"tools/spmd/reference/"),
    ("PyTorch's name", r"tools/op/torch_names\.cc"),
]


def without_comments(path: Path) -> str:
    mark = "//" if path.suffix in (".h", ".cc", ".cu", ".cuh") else "#"
    return re.sub(rf"{mark}[^\n]*", "", path.read_text())


def sources() -> dict[str, str]:
    """The text of the product's files, by path, without comments and without those that only call operators."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return {name: without_comments(path) for name, path in named.items() if not CALLERS.match(name)}


def part_of(path: str) -> str:
    return next((part for part, pattern in PARTS if re.match(pattern, path)), "other")


def footprint(op: str, files: dict[str, str]) -> dict[str, list[str]]:
    """The files that name the operator, by part. Sources that instantiate its shared kernel are in the parts of kernels."""
    named = [path for path, text in files.items() if re.search(op, text, re.IGNORECASE)]
    for table in [path for path in named if path.startswith(TEMPLATES)]:
        named += [path for path, text in files.items() if f'#include "{table}"' in text and path not in named]
    order = [part for part, _ in PARTS] + ["other"]
    found = {part: sorted(path for path in named if part_of(path) == part) for part in order}
    return {part: paths for part, paths in found.items() if paths}


def listing(op: str, files: dict[str, str]) -> str:
    """A line for each file, with its part before the first."""
    lines = [f"{part if path == paths[0] else '':<17}{path}"
             for part, paths in footprint(op, files).items() for path in paths]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(listing(sys.argv[1], sources()))
