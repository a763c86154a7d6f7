"""Checks that a name means one thing: types and functions of C++ and CUDA, and retired words.

- Two files define no type or function of one qualified name. Anonymous namespaces do not count as
  scopes, since a batch compiles several sources as one.
- No more than two types of the tree have one simple name. NESTED lists names that are read with
  their owner's name, SHARED other exceptions.
- docs/glossary.md lists the folders, and the types of the headers that programs include; no others.
- Words of tools/retired_words.tsv, which a term of docs/glossary.md has replaced, occur nowhere.

Types and functions are found by Universal Ctags (Debian: universal-ctags). Tests and examples are
separate programs, whose names do not count.

Usage: check_names.py [--root DIR]
"""

import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

import check_includes

SOURCES = re.compile(r"\.(h|cc|cu|cuh)$")
FOLDERS = ("phi/", "distributed/", "api/", "python/src/", "tools/", "benchmarks/")
# Folders that docs/glossary.md describes.
DESCRIBED = FOLDERS + ("examples/", "python/", "yaml/", "api_gen/", "cmake/", "docs/")
TYPES = ("class", "struct", "enum", "union", "typedef")
TEXTS = re.compile(r"\.(h|cc|cu|cuh|py|pyi|md|yaml|j2|cmake|txt|sh)$|/[^.]+$")
# The list itself, and what other systems print.
NOT_OURS = ("tools/retired_words.tsv", "tests/tools/test_check_names.py", "CHANGELOG.md", "LICENSE")
RETIRED = "tools/retired_words.tsv"
GLOSSARY = "docs/glossary.md"

# Types of these names are members, and are read with their owner's name.
NESTED = {"Argument", "Kind", "State", "Options", "Entry", "Key", "Slot", "Impl", "Function", "Scope", "Output",
          "value_type", "type"}
# Name -> why more than two types may have it.
SHARED = {
    "Clock": "an alias of a std::chrono clock",
    "Json": "an alias of a type of nlohmann/json",
}
# Sources of which a build compiles one: each defines the same functions.
ALTERNATIVES = re.compile(r"/(without_\w+|portable|standalone)/|_stub\.cc$")


class Entity(NamedTuple):
    qualified: str  # a function's with its parameters
    name: str
    is_type: bool
    is_nested: bool
    path: str
    line: int

    def place(self) -> str:
        return f"{self.path}:{self.line}"


def files_of(root: Path) -> list[str]:
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for path in listed if (root / path).is_file()]


def is_counted(path: str) -> bool:
    return bool(SOURCES.search(path)) and path.startswith(FOLDERS)


def entities(root: Path, paths: list[str]) -> Iterator[Entity]:
    command = ["ctags", "--languages=C++", "--langmap=C++:.h.cc.cu.cuh", "--kinds-C++=cgsutf",
               "--fields=+KsSnZ", "--output-format=json", "-L", "-", "-f", "-"]
    try:
        tags = subprocess.run(command, cwd=root, input="\n".join(paths), capture_output=True, text=True, check=True)
    except FileNotFoundError:
        sys.exit("check_names: ctags is missing; run tools/setup (Debian: universal-ctags)")
    for line in tags.stdout.splitlines():
        tag = json.loads(line)
        is_type = tag["kind"] in TYPES
        if tag.get("scopeKind") == "function" or (not is_type and tag.get("scopeKind") in ("class", "struct")):
            continue
        scope = re.sub(r"(::)?__anon\w+", "", tag.get("scope", ""))
        qualified = f"{scope}::{tag['name']}{'' if is_type else tag.get('signature', '')}"
        yield Entity(qualified, tag["name"], is_type, tag.get("scopeKind") in ("class", "struct"), tag["path"],
                     tag["line"])


def are_alternatives(places: list[Entity]) -> bool:
    """Whether no two of these are in one program: one is a stub, or they are kernels of devices."""
    if sum(not ALTERNATIVES.search(entity.path) for entity in places) <= 1:
        return True
    is_kernel = all(re.match(r".*::\w+Kernel\(", entity.qualified) for entity in places)
    devices = [re.match(r"phi/kernels/(cpu|gpu)/", entity.path) for entity in places]
    return is_kernel and all(devices) and len({device.group(1) for device in devices}) == len(places)


def duplicates(found: list[Entity]) -> Iterator[str]:
    by_name = collections.defaultdict(dict)
    for entity in found:
        by_name[entity.qualified].setdefault(entity.path, entity)
    for qualified, in_files in sorted(by_name.items()):
        places = list(in_files.values())
        exempt = places[0].name == "main" or places[0].name in SHARED
        if len(places) > 1 and not exempt and not are_alternatives(places):
            yield f"{qualified} is defined in {', '.join(entity.place() for entity in places)}; rename one"


def overused(found: list[Entity]) -> Iterator[str]:
    by_name = collections.defaultdict(dict)
    for entity in found:
        exempt = len(entity.name) == 1 or entity.name in SHARED or (entity.is_nested and entity.name in NESTED)
        if entity.is_type and not exempt:
            by_name[entity.name].setdefault(entity.qualified, entity)
    for name, types in sorted(by_name.items()):
        if len(types) > 2:
            yield (f"{name} is the name of {len(types)} types: {', '.join(entity.place() for entity in types.values())}; "
                   "make each name specific")


def glossary_differences(root: Path, paths: list[str]) -> Iterator[str]:
    """Folders and types of the headers of programs that the glossary lacks, and those that are gone."""
    if not (root / GLOSSARY).is_file():
        return
    listed = set(re.findall(r"^ *- `([^`]+)`", (root / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE))
    folders = {str(Path(path).parent) for path in paths if path.startswith(DESCRIBED)}
    headers = list(check_includes.reached_from(root, check_includes.USER_HEADERS))
    types = {entity.name: entity.place() for entity in entities(root, headers)
             if entity.is_type and not entity.is_nested and "detail::" not in entity.qualified}
    for folder in sorted(folders - listed):
        yield f"{GLOSSARY} lacks the folder `{folder}`"
    for name in sorted(types.keys() - listed):
        yield f"{GLOSSARY} lacks `{name}` ({types[name]})"
    for name in sorted(listed - folders - types.keys()):
        yield f"{GLOSSARY} lists `{name}`, which is no folder and no type of a header of programs; remove it"


def retired(root: Path, paths: list[str]) -> Iterator[str]:
    rows = [line.split("\t") for line in (root / RETIRED).read_text().splitlines()
            if line and not line.startswith("#")] if (root / RETIRED).is_file() else []
    files = [path for path in paths if path not in NOT_OURS and TEXTS.search("/" + path)]
    if not rows or not files:
        return
    # grep finds the lines: it searches for all patterns at once, a hundred times as fast as re.
    options = [option for pattern, _ in rows for option in ("-e", pattern)]
    found = subprocess.run(["grep", "-nHIE", *options, "--", *files], cwd=root, capture_output=True, text=True,
                           check=False)
    if found.returncode > 1:
        raise SystemExit(f"{RETIRED}: {found.stderr}")
    for place, text in re.findall(r"^([^:]+:\d+):(.*)$", found.stdout, re.MULTILINE):
        for pattern, instead in rows:
            for match in re.finditer(pattern, text):
                yield f"{place}: '{match.group()}' is retired; write {instead}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    paths = files_of(root)
    found = list(entities(root, [path for path in paths if is_counted(path)]))
    findings = [*duplicates(found), *overused(found), *glossary_differences(root, paths), *retired(root, paths)]
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"names: {len(found)} types and functions, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
