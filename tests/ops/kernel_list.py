"""Compares the registered kernels with kernel_list.txt, so that a kernel or dtype cannot be lost unnoticed.

Each line of the list is an operator, its CPU dtypes and, after '|', its GPU dtypes: '=' if they are
those of the CPU. A program without GPU kernels is compared in the CPU's part only.

Usage: kernel_list.py PROGRAM [--write]     PROGRAM: autophi_op, or autophi_op_with_gpus
--write replaces the list; it needs a program with GPU kernels.
"""

import difflib
import re
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).with_name("kernel_list.txt")


def registered(program: str) -> tuple[dict, dict]:
    """Operator -> CPU dtypes, and operator -> GPU dtypes ('=': the CPU's)."""
    page = subprocess.run([program, "--document"], capture_output=True, text=True, check=True).stdout
    tables, _, gpus = page.partition("\n## On GPUs\n")
    cpu = {name: dtypes.strip() for name, dtypes in re.findall(r"^\| `(\w+)\(.*?` \| ([^|]*) \|", tables, re.MULTILINE)}
    listed = gpus.split("\n\nThese have none")[0]
    gpu = {name: dtypes or "=" for name, dtypes in re.findall(r"`(\w+)`(?: \(([^)]*)\))?", listed)}
    return cpu, gpu


def lines(cpu: dict, gpu: dict) -> list[str]:
    return [" ".join(filter(None, (f"{name}:", cpu.get(name), "|", gpu.get(name)))) + "\n"
            for name in sorted(cpu.keys() | gpu.keys())]


def main() -> int:
    cpu, gpu = registered(sys.argv[1])
    if "--write" in sys.argv:
        if not gpu:
            sys.exit("kernel_list: this program has no GPU kernels; use autophi_op_with_gpus")
        LIST.write_text("".join(lines(cpu, gpu)), encoding="utf-8")
        return 0
    wanted = LIST.read_text(encoding="utf-8").splitlines(keepends=True)
    found = lines(cpu, gpu)
    if not gpu:
        wanted = [f"{line.split(' |')[0]} |\n" for line in wanted if line.split(":")[0] in cpu]
    sys.stdout.writelines(difflib.unified_diff(wanted, found, "kernel_list.txt", "registered"))
    if wanted != found:
        print(f"If this is intended: {Path(__file__).name} build/bin/autophi_op_with_gpus --write")
    return 0 if wanted == found and cpu else 1


if __name__ == "__main__":
    sys.exit(main())
