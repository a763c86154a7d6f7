#!/usr/bin/env python3
"""Fails if a shared library needs a symbol of this project that it does not define: programs that link it alone would not link.

Usage: undefined_symbols.py LIBRARY
"""

import subprocess
import sys


def main() -> int:
    names = subprocess.run(["nm", "-D", "--undefined-only", "--demangle", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    missing = [line.split(None, 1)[1] for line in names.splitlines() if " phi::" in line]
    for name in missing:
        print(f"{sys.argv[1]}: {name} is undefined; define it in the core, not in a kernel library")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
