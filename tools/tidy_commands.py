"""Writes a build's compile_commands.json as clang-tidy can read it: without g++'s own options, and with
precompiled headers as plain ones, which are written next to it. clang would read g++'s precompiled files as
its own.

Usage: tidy_commands.py BUILD_DIR OUT_DIR
"""

import json
import re
import shutil
import sys
from pathlib import Path

ONLY_GCC = re.compile(r" (?:-fpch-preprocess|-Winvalid-pch|--param=\S+)(?= |$)")
PRECOMPILED = re.compile(r"(?<= -include )\S+\.hxx(?= |$)")


def write_commands(build: Path, out: Path) -> None:
    out = out.resolve()  # commands are run elsewhere
    headers: dict[str, Path] = {}

    def plain(header: re.Match) -> str:
        if header[0] not in headers:
            headers[header[0]] = out / f"precompiled_{len(headers)}.hxx"
            shutil.copy(header[0], headers[header[0]])
        return str(headers[header[0]])

    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        entry["command"] = PRECOMPILED.sub(plain, ONLY_GCC.sub("", entry["command"]))
    (out / "compile_commands.json").write_text(json.dumps(commands))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_commands(Path(sys.argv[1]), Path(sys.argv[2]))
