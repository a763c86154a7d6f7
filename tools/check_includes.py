"""Checks that the folders of phi/, distributed/, api/ and python/ include only what lies below them.

LAYERS lists which folders each folder (or a subset of its files) may include. A file belongs
to the first row that matches its path. tools, examples, benchmarks and tests are exempt, except the oracle
of training, which shares no code with the tested code. USER_HEADERS must not reach a backend of
communication, kernels or phi/gpu, directly or through other headers.

Usage: check_includes.py [--root DIR] [--list]
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple, Optional

SOURCE_SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".inc"}
CHECKED_FOLDERS = ("phi", "distributed", "api", "python")
ORACLE = "tests/support/oracle"


@dataclass(frozen=True)
class Layer:
    """Files whose path matches `pattern` may include their own layer, `below` and `libraries`."""

    name: str
    pattern: str
    below: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("fmt", "glog")

    def holds(self, path: str) -> bool:
        return re.match(self.pattern, path) is not None


META = ("phi/common", "phi/core meta types")
CORE = META + ("phi/core",)
PURE = META + ("distributed/mesh", "distributed/placement")
PURE_TOP = PURE + ("distributed/spmd", "distributed/reshard plan", "distributed/pipeline/schedules")
# Collectives speak of reduce kinds and share with placement's words and split rule.
COMM = CORE + ("distributed/placement", "distributed/comm", "distributed/comm/mpi",
               "distributed/comm/nccl")
RUNTIME = COMM + PURE_TOP + (
    "phi/infermeta", "phi/kernel signatures", "phi/kernels", "phi/memory/plan", "phi/memory/io",
    "phi/memory/engine", "phi/out_of_core", "phi/autograd", "distributed/planner")
HANDLES = RUNTIME + ("distributed/reshard runtime", "distributed runtime", "api/tensor",
                     "api declarations")
CALLS = HANDLES + ("api/call",)

# What programs are written with: no kernel, no plan of memory, no one backend of communication.
PUBLIC = tuple(name for name in CALLS if name not in (
    "phi/kernel signatures", "phi/kernels", "phi/memory/plan", "phi/memory/io", "phi/memory/engine",
    "distributed/comm/mpi", "distributed/comm/nccl"))

LAYERS = (
    Layer("phi/common", r"phi/common/", libraries=("fmt",)),
    Layer("phi/core meta types", r"phi/core/(meta|box|box_copy|attribute|attribute_value)\.", META, libraries=("fmt",)),
    Layer("phi/core", r"phi/core/", CORE),
    Layer("phi/yaml", r"phi/yaml/", META, libraries=("fmt", "yaml-cpp")),
    Layer("phi/gpu", r"phi/gpu/", CORE, libraries=("fmt", "cuda")),
    Layer("phi/infermeta", r"phi/infermeta/", CORE),
    # Generated, and all that is generated in phi: kernels are checked against it.
    Layer("phi/kernel signatures", r"phi/generated/kernels/", CORE),
    Layer("phi/kernels", r"phi/kernels/", CORE + ("phi/infermeta", "phi/kernel signatures", "phi/gpu"),
          libraries=("fmt", "glog", "dnnl", "blas", "openmp", "cuda")),
    Layer("phi/memory/plan", r"phi/memory/plan/", META + ("phi/core",)),
    Layer("phi/memory/io", r"phi/memory/io/", CORE + ("phi/memory/plan",),
          libraries=("fmt", "glog", "uring")),
    Layer("phi/memory/engine", r"phi/memory/engine/", CORE + ("phi/memory/plan", "phi/memory/io")),
    Layer("phi/out_of_core", r"phi/out_of_core/", CORE + (
        "phi/infermeta", "phi/kernels", "phi/memory/plan", "phi/memory/io")),
    Layer("phi/autograd", r"phi/autograd/", CORE + ("phi/infermeta",)),
    Layer("distributed/mesh", r"distributed/mesh/", META),
    Layer("distributed/placement", r"distributed/placement/", PURE),
    Layer("distributed/spmd", r"distributed/spmd/", PURE),
    Layer("distributed/reshard runtime", r"distributed/reshard/(execute|box_exchange_run|reshard_events|captured_steps|rank_schedule|staging_buffer)\.",
          RUNTIME + ("distributed runtime",)),
    Layer("distributed/reshard plan", r"distributed/reshard/", PURE),
    Layer("distributed/pipeline/schedules", r"distributed/pipeline/schedules/", PURE),
    Layer("distributed/planner", r"distributed/planner/", PURE_TOP),
    # Programs read machine files too.
    Layer("distributed/simulator", r"distributed/simulator/", PURE + ("distributed/pipeline/schedules", "phi/yaml"), libraries=("fmt", "yaml-cpp")),
    Layer("distributed/kernels", r"distributed/kernels/", COMM + ("phi/kernel signatures",)),
    # One row of the table in three parts, so that each library stays in its own folder.
    Layer("distributed/comm/mpi", r"distributed/comm/mpi/", COMM, libraries=("fmt", "glog", "mpi")),
    Layer("distributed/comm/nccl", r"distributed/comm/nccl/", COMM + ("phi/gpu",),
          libraries=("fmt", "glog", "cuda")),
    Layer("distributed/comm", r"distributed/comm/", COMM),
    Layer("distributed/config_check", r"distributed/config_check/", COMM, libraries=("fmt", "nlohmann")),
    # Of processes and machines alone: it starts jobs, and knows nothing of what they compute.
    Layer("distributed/supervise", r"distributed/supervise/", ("phi/common",)),
    Layer("distributed runtime", r"distributed/(tensor|pipeline|memory|checkpoint)/",
          RUNTIME + ("distributed/reshard runtime",),
          libraries=("fmt", "glog", "yaml-cpp", "nlohmann")),
    # Words of tensors that are calls of operators.
    Layer("api/tensor words", r"api/tensor/(operators|scalar_operand|indexing)\.", HANDLES),
    Layer("api/tensor", r"api/tensor/", RUNTIME + ("distributed/reshard runtime",
                                                   "distributed runtime")),
    Layer("api/rules", r"api/rules/", CORE + PURE + ("distributed/spmd", "phi/infermeta")),
    # Functions on tensors that the floors above call and define.
    Layer("api declarations", r"api/generated/(api|ops/\w+)\.h$|distributed/api\.h$"
          r"|api/dtensor/(default_mesh|gpu|job|local_parts|reshard|shard_tensor)\.h$", HANDLES),
    Layer("api/call", r"api/call/", HANDLES + ("api/rules",)),
    Layer("api/capture", r"api/capture/", CALLS + ("api/autograd", "distributed/simulator")),
    Layer("api/autograd", r"api/autograd/", CALLS),
    # It implements the declarations of distributed/api.h, and installs NCCL's communicator.
    Layer("api/dtensor", r"api/dtensor/", CALLS + ("api/autograd",)),
    Layer("api/explain", r"api/explain/", CALLS + ("api/rules", "distributed/config_check"),
          libraries=("fmt", "nlohmann")),
    Layer("api/stablehlo", r"api/stablehlo/", CALLS + ("api/capture",), libraries=("fmt", "nlohmann")),
    Layer("api/data", r"api/data/", HANDLES),
    Layer("abi", r"phi/generated/abi\.h$", ()),
    Layer("api/library", r"api/library/", CALLS + ("api/rules", "abi")),
    Layer("api/testing", r"api/testing/", CALLS + ("api/autograd", "api/rules")),
    Layer("api/nn", r"api/nn/", CALLS + ("api/rules", "api/autograd", "api/capture", "api/library", "abi"),
          libraries=("fmt", "glog", "nlohmann")),
    Layer("api/training", r"api/training/", CALLS + (
        "api/autograd", "api/capture", "api/data", "api/explain", "api/nn")),
    Layer("api/generation", r"api/generation/", CALLS + ("api/capture", "api/nn")),
    Layer("api/simulation", r"api/simulation/", CALLS + ("distributed/simulator",), libraries=("fmt", "nlohmann")),
    Layer("api/planning", r"api/planning/", CALLS + (
        "api/autograd", "api/rules", "api/capture", "api/data", "api/explain", "api/nn", "api/training", "api/simulation",
        "distributed/simulator"), libraries=("fmt", "nlohmann")),
    # The top: may include everything, and nothing above includes it.
    Layer("api", r"api/(generated/|runtime\.)|phi/(api|tensor_api)\.", libraries=("*",)),
    Layer("python", r"python/", PUBLIC + (
        "api/tensor words", "api/rules", "api/autograd", "api/capture", "api/explain", "api/stablehlo", "api/data",
        "api/library", "api/testing", "api/nn", "api/training", "api/generation", "api/simulation", "api/planning", "distributed/simulator",
        "api"),
          libraries=("fmt", "nanobind", "python")),
    Layer("training oracle", rf"{ORACLE}/", libraries=("yaml-cpp", "nlohmann", "gtest")),
)

LIBRARIES = {
    "fmt": r"fmt/",
    "glog": r"glog/",
    "gflags": r"gflags/",
    "yaml-cpp": r"yaml-cpp/",
    "nlohmann": r"nlohmann/",
    "uring": r"liburing",
    "mpi": r"mpi(-ext)?\.h$",
    "dnnl": r"(oneapi/)?dnnl",
    "blas": r"(openblas/)?(cblas|lapacke|openblas)",
    "openmp": r"omp\.h$",
    "cuda": r"(cuda|cublas|cudnn|curand|cutlass|cub/|thrust/|nccl|nvtx)",
    "gtest": r"(gtest|gmock)/",
    "benchmark": r"benchmark/",
    "nanobind": r"nanobind/",
    "python": r"(Python|structmember)\.h$",
}

# What programs include.
USER_HEADERS = ("phi/api.h", "phi/tensor_api.h", "distributed/api.h", "api/nn/nn.h", "api/training/trainer.h")
BACKENDS = r"distributed/comm/(mpi|nccl|local)/|phi/(gpu|kernels)/"


class Include(NamedTuple):
    line: int
    target: str
    quoted: bool


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


def layer_of(path: str) -> Optional[Layer]:
    return next((layer for layer in LAYERS if layer.holds(path)), None)


def library_of(target: str) -> Optional[str]:
    return next((name for name, pattern in LIBRARIES.items() if re.match(pattern, target)), None)


def without_block_comments(text: str) -> str:
    """Blanks /* */ comments; line numbers stay. Strings and // comments are skipped, since a
    /* within them opens no comment."""
    token = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'

    def blank(match: re.Match) -> str:
        found = match.group()
        return "\n" * found.count("\n") if found.startswith("/*") else found

    return re.sub(token, blank, text, flags=re.DOTALL)


def includes_of(text: str) -> Iterator[Include]:
    for number, line in enumerate(without_block_comments(text).splitlines(), start=1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield Include(number, match.group(2), match.group(1) == '"')


def complaint(root: Path, path: str, layer: Layer, include: Include) -> Optional[str]:
    """The error of this include in a file of `layer`, or None."""
    target = include.target
    if layer.libraries == ("*",):
        return None
    library = library_of(target)
    if library is not None:
        if library in layer.libraries:
            return None
        return f'includes "{target}": {layer.name} uses {", ".join(layer.libraries)} only, not {library}'
    if target.split("/")[0] not in CHECKED_FOLDERS:
        # Whatever else is quoted must be a project file, and those are named from the root.
        in_folder = (root / path).parent / target
        if include.quoted and (in_folder.exists() or (root / target).exists()):
            return f'includes "{target}": only phi/, distributed/, api/ and python/, named from the root, are allowed'
        return None
    other = layer_of(target)
    if other is None:
        return f'includes "{target}", whose folder has no row in LAYERS of tools/check_includes.py'
    allowed = (layer.name,) + layer.below
    if other.name in allowed:
        return None
    return (f'includes "{target}" ({other.name}); may include {", ".join(dict.fromkeys(allowed))}. '
            "Move the code up, or pass in what it needs")


def check_file(root: Path, path: str) -> tuple[list[Finding], int]:
    """The findings in one file, and how many includes it has."""
    layer = layer_of(path)
    if layer is None:
        return [Finding(path, 1, "layers", "the folder has no row in LAYERS of tools/check_includes.py;"
                        " add one with what it may include")], 0
    includes = list(includes_of((root / path).read_text(encoding="utf-8")))
    found = ((include.line, complaint(root, path, layer, include)) for include in includes)
    return [Finding(path, line, layer.name, text) for line, text in found if text], len(includes)


def reached_from(root: Path, headers: Iterable[str]) -> dict[str, list[Include]]:
    """These headers and all that they include, each with its includes. Generated headers, which are
    not in the tree, are left out."""
    reached, waiting = {}, list(headers)
    while waiting:
        path = waiting.pop()
        if path not in reached and (root / path).is_file():
            reached[path] = list(includes_of((root / path).read_text(encoding="utf-8")))
            waiting += [include.target for include in reached[path] if include.quoted]
    return reached


def backends_reached(root: Path) -> list[Finding]:
    """The includes of backends in USER_HEADERS and in the headers that these include."""
    return [Finding(path, include.line, "user headers",
                    f'includes "{include.target}", a backend, and programs include this header. '
                    "Declare here what they need, and include the backend in the source")
            for path, includes in reached_from(root, USER_HEADERS).items() for include in includes
            if re.match(BACKENDS, include.target) and not re.match(BACKENDS, path)]


def sources(root: Path) -> list[str]:
    return sorted(file.relative_to(root).as_posix() for folder in (*CHECKED_FOLDERS, ORACLE)
                  for file in (root / folder).rglob("*") if file.suffix in SOURCE_SUFFIXES)


def print_table() -> None:
    for layer in LAYERS:
        below = "everything" if layer.libraries == ("*",) else ", ".join(layer.below) or "-"
        print(f"{layer.name}: {below}; libraries: {', '.join(layer.libraries)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true", help="print which layers each layer may include, and stop")
    options = parser.parse_args()
    if options.list:
        print_table()
        return 0
    files = sources(options.root)
    if not files:
        print(f"include rules: no sources below {options.root}", file=sys.stderr)
        return 2
    results = [check_file(options.root, path) for path in files]
    findings = [finding for found, _ in results for finding in found]
    findings += backends_reached(options.root)
    for finding in findings:
        print(finding, file=sys.stderr)
    total = sum(count for _, count in results)
    print(f"include rules: {len(files)} files, {total} includes, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
