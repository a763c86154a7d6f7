"""Compares the report of ptxas for each kernel of the build with the table of limits.

Usage: kernel_figures.py BUILD_DIR [--table=FILE] [--write]

A row of the table is a kernel as a source calls it, or as all sources of a folder do that are compiled in batches (cmake/cuda.cmake),
with the worst over its instantiations there: registers, static shared memory and stack in bytes, and the occupancy of an sm_90 with blocks of `threads` (in per cent; registers and shared memory
decide). A kernel may take less than its row says, not more, where more is another unit of what a multiprocessor hands
out: 8 registers, 128 bytes of shared memory. A kernel without a row, and a row without a kernel, are errors. The
first line names the release of ptxas; another one allocates otherwise, so there only rows are compared. --write
makes the table anew; what it says of threads stays (256 for kernels that are new).

Registers that spill end the build (cmake/cuda.cmake). Without machine code for sm_90 nothing is compared, and the status is 77.
"""

import argparse
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
ARCHITECTURE = "sm_90"
TABLE = Path(__file__).with_suffix(".txt")
COLUMNS = "source kernel threads registers shared stack occupancy"
ENTRY = re.compile(r"ptxas info    : Compiling entry function '(\w+)' for '(\w+)'")
STACK = re.compile(r" +(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"ptxas info    : Used (\d+) registers(?:.*?(\d+) bytes smem)?")


@dataclasses.dataclass
class Kernel:
    """Resources of one kernel, or of all instantiations of one together."""
    registers: int = 0
    shared: int = 0
    stack: int = 0
    spilled: int = 0
    worst: str = ""  # the instantiation with the most registers, as the linker calls it

    def join(self, other: "Kernel") -> None:
        if other.registers > self.registers:
            self.registers, self.worst = other.registers, other.worst
        for field in ("shared", "stack", "spilled"):
            setattr(self, field, max(getattr(self, field), getattr(other, field)))


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(kernel: Kernel, threads: int) -> int:
    """Resident warps of a multiprocessor of an sm_90, in per cent of the 64 that it can (CUDA C++ Programming Guide,
    technical specifications per compute capability): 65536 registers, handed out by 256 to warps; 228 KiB of shared memory,
    1 KiB of which each block loses; 32 blocks."""
    warps = up(threads, 32) // 32
    by_registers = 65536 // up(max(kernel.registers, 1) * 32, 256) // 4 * 4 // warps
    by_shared = 228 * 1024 // (up(kernel.shared, 128) + 1024)
    return 100 * warps * min(32, 64 // warps, by_registers, by_shared) // 64


def name_of(symbol: str) -> str:
    """The function's own name in a mangled one: the last of the namespaces and names that it starts with."""
    rest, name = re.sub(r"^_ZN?", "", symbol), symbol
    while match := re.match(r"\d+", rest):
        end = match.end() + int(match.group())
        name, rest = rest[match.end():end], rest[end:]
    return name


def kernels_of(text: str) -> dict[str, Kernel]:
    """Those of one object, by name."""
    found: dict[str, Kernel] = {}
    current = None
    for line in text.splitlines():
        if match := ENTRY.match(line):
            current = Kernel(worst=match.group(1)) if match.group(2) == ARCHITECTURE else None
        elif current and (match := STACK.match(line)):
            current.stack, stores, loads = (int(word) for word in match.groups())
            current.spilled = stores + loads
        elif current and (match := USED.match(line)):
            current.registers, current.shared = int(match.group(1)), int(match.group(2) or 0)
            found.setdefault(name_of(current.worst), Kernel()).join(current)
            current = None
    return found


def cached(build: Path, name: str) -> str:
    """A value of the build's cache."""
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE).group(1)


def cuda_objects(build: Path) -> list[tuple[str, Path]]:
    """The objects that nvcc makes, each with its source, or the sources of its folder."""
    found, root, batches = [], cached(build, "CMAKE_HOME_DIRECTORY"), Path(cached(build, "CMAKE_CACHEFILE_DIR"), "batches")
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if any(Path(word).name == "nvcc" for word in words):
            source = Path(entry["file"])
            name = (source.relative_to(batches).with_name("*.cu") if source.is_relative_to(batches) else source.relative_to(root)).as_posix()
            found.append((name, Path(entry["directory"], words[words.index("-o") + 1])))
    return found


def release_of(build: Path) -> str:
    text = subprocess.run([cached(build, "AUTOPHI_NVCC"), "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"release [\d.]+, V([\d.]+)", text).group(1)


def read_table(path: Path) -> tuple[str, dict[tuple[str, str], list[int]]]:
    """The release, and (threads, registers, shared, stack, occupancy) by source and kernel."""
    release, rows = "", {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if match := re.match(r"# ptxas ([\d.]+)", line):
            release = match.group(1)
        elif line and not line.startswith("#") and line.split() != COLUMNS.split():
            source, kernel, *numbers = line.split()
            rows[source, kernel] = [int(word) for word in numbers]
    return release, rows


def line_of(cells: list[str]) -> str:
    """Columns are as wide in every table, so that a new row changes no other."""
    source, kernel, *numbers = cells
    return f"{source:<57} {kernel:<23} {''.join(f' {number:>10}' for number in numbers)}\n"


def write_table(path: Path, release: str, found: dict[tuple[str, str], Kernel], old: dict[tuple[str, str], list[int]]):
    lines = [line_of(COLUMNS.split())]
    # A source that joins the batches of its folder, or leaves them, keeps what its kernels' rows say.
    of_folder = {(Path(source).parent, kernel): row[0] for (source, kernel), row in old.items()}
    for key, kernel in sorted(found.items()):
        source, name = key
        threads = old[key][0] if key in old else of_folder.get((Path(source).parent, name), 256)
        numbers = (threads, kernel.registers, kernel.shared, kernel.stack, occupancy(kernel, threads))
        lines.append(line_of([*key, *map(str, numbers)]))
    path.write_text(f"# ptxas {release}, {ARCHITECTURE}. Written by tests/tools/kernel_figures.py BUILD_DIR --write.\n"
                    + "".join(lines), encoding="utf-8")


def excess(kernel: Kernel, row: list[int]) -> list[str]:
    """What of a kernel is more than its row allows."""
    threads, registers, shared, stack, share = row
    wrong = []
    for what, has, may, unit in (("registers", kernel.registers, registers, 8), ("bytes of shared memory", kernel.shared, shared, 128),
                                 ("bytes of stack", kernel.stack, stack, 1), ("bytes spilled", kernel.spilled, 0, 1)):
        if up(has, unit) > up(may, unit):
            wrong.append(f"{has} {what} instead of {may}")
    if occupancy(kernel, threads) < share:
        wrong.append(f"{occupancy(kernel, threads)} % of occupancy instead of {share}")
    return wrong


def is_less(kernel: Kernel, row: list[int]) -> bool:
    """Whether a row could be tighter."""
    return up(kernel.registers, 8) < up(row[1], 8) or up(kernel.shared, 128) < up(row[2], 128)


def demangled(symbol: str) -> str:
    tool = shutil.which("c++filt")
    return subprocess.run([tool, symbol], capture_output=True, text=True, check=True).stdout.strip() if tool else symbol


def compare(found: dict[tuple[str, str], Kernel], rows: dict[tuple[str, str], list[int]], same_release: bool) -> list[str]:
    wrong = [f"{source}: {kernel} has no row" for source, kernel in sorted(found.keys() - rows.keys())]
    wrong += [f"{source}: {kernel} has a row, but is there no more" for source, kernel in sorted(rows.keys() - found.keys())]
    for key in sorted(found.keys() & rows.keys()) if same_release else []:
        if more := excess(found[key], rows[key]):
            wrong.append(f"{key[0]}: {key[1]} takes {', '.join(more)}; most registers has {demangled(found[key].worst)}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    objects = cuda_objects(args.build)
    files = [(source, Path(f"{path}.ptxas")) for source, path in objects]
    missing = [source for source, path in files if not path.exists()]
    if missing:
        print(f"kernel figures: {len(missing)} of {len(files)} objects are not built, {missing[0]}", file=sys.stderr)
        return 2
    found: dict[tuple[str, str], Kernel] = {}
    for source, path in files:
        for name, kernel in kernels_of(path.read_text(encoding="utf-8")).items():
            found.setdefault((source, name), Kernel()).join(kernel)
    if not found:
        print(f"kernel figures: this build has no machine code for {ARCHITECTURE}; nothing was compared.")
        return SKIPPED
    table_release, rows = read_table(args.table)
    release = release_of(args.build)
    if args.write:
        write_table(args.table, release, found, rows)
        print(f"kernel figures: {len(found)} rows written to {args.table}")
        return 0
    wrong = compare(found, rows, release == table_release)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        print(f"If that is as it must be: {Path(__file__).name} {args.build} --write", file=sys.stderr)
    elif release != table_release:
        print(f"kernel figures: ptxas here is {release}, the table's {table_release}: rows alone were compared.")
    less = sum(is_less(kernel, rows[key]) for key, kernel in found.items() if key in rows)
    print(f"kernel figures: {len(found)} kernels, {len(wrong)} that are not as the table says, {less} that take less (--write)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
