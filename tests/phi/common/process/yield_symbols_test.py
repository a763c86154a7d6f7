"""The marks of phi/common/process/yield_point.h leave nothing in the library of a build without yields.

Usage: yield_symbols_test.py --nm=NM --source=ROOT LIBRARY
No symbol of the yields may be there, and no mark's name among the library's bytes.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

SYMBOLS = ("yield_here", "seed_yields", "draw_yield")


def marks(root: Path) -> set[str]:
    sources = [file for folder in ("phi", "distributed", "tools")
               for file in (root / folder).rglob("*") if file.suffix in (".h", ".cc")]
    found = set()
    for file in sources:
        found.update(re.findall(r'^\s+yield_point\("([^"]+)"\);', file.read_text(), re.MULTILINE))
    return found


def leftovers(nm: str, root: Path, library: Path) -> list[str]:
    names = subprocess.run([nm, library], capture_output=True, text=True, check=True).stdout
    names += subprocess.run([nm, "--dynamic", library], capture_output=True, text=True,
                            check=True).stdout
    assert "Storage" in names, f"{library} has no symbols of ours: nothing can be said of it"
    known = marks(root)
    assert len(known) >= 40, f"only {len(known)} marks found in {root}: the pattern is wrong"
    contents = library.read_bytes()
    return ([f"symbol {symbol}" for symbol in SYMBOLS if symbol in names]
            + [f"mark {mark}" for mark in sorted(known) if mark.encode() in contents])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("library", type=Path)
    args = parser.parse_args()
    found = leftovers(args.nm, args.source, args.library)
    for left in found:
        print(f"{args.library}: {left} is left of the yields")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
