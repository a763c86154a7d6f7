"""Compiles the examples in the comments of headers and in the pages of docs.

In a comment of a header, lines that are indented by three spaces are
- an example in C++: it is compiled;
- text, if each line begins with a bar: `//   | stage   parameter |`: tables, formats of files, output;
- the continuation of the lines above: of a field (`/// Errors   ...`) or of a list's item (`- ...`).

Other indented lines are errors, so that no example is skipped silently. Text that ends like a statement
(`;`) and lines of more than 100 columns are errors too: clang-format does not change indented lines
(CommentPragmas in .clang-format), else it would join them. In a page, fences of `cpp` contain examples,
and others contain text.

An example is compiled in a function in the namespace of its header, or in `phi` for a page;
tools/examples.yaml has the declarations around it. It is complete, but for `...` in place of statements,
optionally followed by words: `... out is made ...`.

Usage: check_examples.py [--root DIR] [--no-compile] [--commands FILE] [--print]
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

import yaml

MAX_COLUMNS = 100
INDENT = 3
AROUND = "tools/examples.yaml"
# Whose flags examples are compiled with: a source that may include everything.
COMPILED_LIKE = "tools/autophi.cc"
FOLDERS = ("api", "benchmarks", "distributed", "docs", "examples", "phi", "tests", "tools")
# Of one device: what they include is not for a program of the CPU.
OF_DEVICES = ("phi/gpu/", "phi/kernels/gpu/", "phi/kernels/templates/", "tests/cuda_on_cpu/", "tests/phi/gpu/",
              "tests/support/cuda_on_cpu/")
# Headers that a program writes, as a test expects it to.
GOLDEN = "tests/api_gen/golden/"


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Line(NamedTuple):
    number: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


@dataclass
class Example:
    path: str
    namespace: str
    lines: list[Line] = field(default_factory=list)


@dataclass
class Found:
    """A file's examples, and the errors in its indented lines."""

    examples: list[Example] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


# Comments of headers.

def paragraphs(text: str) -> Iterator[list[Line]]:
    """Runs of comment lines that are equal in indentation and slashes, without empty ones; each without
    its slashes. One that is indented belongs to the example before an empty line."""
    paragraph, last, empty = [], None, False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        match = re.match(r"(\s*///?)(\s.*)?$", line)
        kind = match.group(1) if match else None
        rest = ((match.group(2) or "") if match else "").rstrip()
        if paragraph and (kind != last or (empty and not rest.startswith(" " * INDENT))):
            yield paragraph
            paragraph = []
        if rest:
            paragraph.append(Line(number, rest))
        last, empty = kind, bool(match) and not rest
    assert not paragraph


def continued_column(line: str) -> Optional[int]:
    """The column of the continuation lines of this line, if it is a list's item or a field."""
    begins = re.match(r"(\s+- )\S", line) or re.match(r"( \S+(?: \S+)* {2,})\S", line)
    return len(begins.group(1)) if begins else None


def blocks(paragraph: list[Line]) -> Iterator[list[Line]]:
    """The indented lines of a paragraph, run by run, without continuation lines."""
    block, columns = [], set()
    for line in paragraph:
        column = continued_column(line.text) if not block or line.indent < INDENT else None
        if block and line.indent < INDENT:
            yield block
            block = []
        if column:
            columns.add(column)
        elif block or (line.indent >= INDENT and line.indent not in columns):
            block.append(line)
    if block:
        yield block


def read_header(path: str, text: str) -> Found:
    opened = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
    namespace = opened.group(1) if opened else "phi"
    found = Found()
    for paragraph in paragraphs(text):
        for block in blocks(paragraph):
            faults = [Finding(path, line.number, fault) for line in block
                      if (fault := fault_of(line, is_text(block[0])))]
            if block[0].indent != INDENT:
                faults.insert(0, Finding(path, block[0].number, (
                    f"is indented by {block[0].indent} and continues no line above: an example and "
                    f"text with bars are indented by {INDENT}")))
            found.findings += faults
            if not is_text(block[0]):
                found.examples.append(Example(path, namespace, [
                    Line(line.number, line.text[INDENT:]) for line in block]))
    wide = [Finding(path, number, f"has {len(line)} columns, at most {MAX_COLUMNS} are allowed")
            for number, line in enumerate(text.splitlines(), start=1)
            if re.match(r"\s*///?   ", line) and len(line) > MAX_COLUMNS]
    found.findings += wide
    return found


def is_text(line: Line) -> bool:
    return re.match(r"\s*\|(\s|$)", line.text) is not None


def fault_of(line: Line, of_text: bool) -> Optional[str]:
    if is_text(line) != of_text:
        return "text with bars and an example in one block; separate them by a line of prose"
    return ends_as_statement(line.text) if of_text else None


def ends_as_statement(line: str) -> Optional[str]:
    if not re.search(r";\s*(//.*)?$", line):
        return None
    return "text that ends like a statement; an example has no bars, and its fence says cpp"


# Pages.

def read_page(path: str, text: str) -> Found:
    found, fence = Found(), None
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.match(r"\s*```(.*)$", line)
        if match and fence is None:
            fence = match.group(1).strip()
            if fence == "cpp":
                found.examples.append(Example(path, "phi"))
        elif match:
            fence = None
        elif fence == "cpp":
            found.examples[-1].lines.append(Line(number, line))
        elif fence is not None and (fault := ends_as_statement(line)):
            found.findings.append(Finding(path, number, fault))
    return found


# One source of all examples.

def without_ellipses(code: str) -> str:
    """Replaces `...` in place of statements by an empty one; the rest of its line is prose."""
    token = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|\.\.\.|[^\s]|\s+'
    result, before = [], ";"
    skipping = False
    for match in re.finditer(token, code):
        text = match.group()
        if text == "..." and not skipping and before in "{};)":
            result.append(";")
            skipping = True  # words, up to the line's end or what else may follow a statement
            continue
        if skipping:
            if "\n" in text or text in ";}" or text.startswith("//"):
                skipping = False
            else:
                continue
        result.append(text)
        if text.strip() and not text.startswith("//"):
            before = text[-1]
    return "".join(result)


@dataclass(frozen=True)
class Around:
    """The declarations around an example; see tools/examples.yaml."""

    before: str = ""
    after: str = ""
    scope: str = "function"

    @staticmethod
    def of(entry: object, position: int) -> "Around":
        if isinstance(entry, list):
            entry = entry[position]
        return Around(before=entry) if isinstance(entry, str) else Around(**(entry or {}))


def numbered(example: Example) -> Iterator[str]:
    """The lines of an example, under the names and numbers that the compiler is to show."""
    source = without_ellipses("\n".join(line.text for line in example.lines)).split("\n")
    expected = None
    for line, code in zip(example.lines, source):
        if line.number != expected:
            yield f'#line {line.number} "{example.path}"'
        yield code
        expected = line.number + 1


def definition(example: Example, name: str, around: Around, common: str) -> str:
    """The source of an example with what is around it."""
    lines = [f'#line 1 "around {example.path}"', around.before, *numbered(example), around.after]
    if around.scope == "file":
        return "\n".join(lines)
    opened = f"namespace {example.namespace} {{"
    if around.scope == "namespace":
        return "\n".join([opened, f"namespace {name} {{", *lines, "}", "}"])
    # In a block, where what `common` declares may be declared as something else.
    common = f'#line 1 "common in {AROUND}"\n{common}'
    return "\n".join([opened, f"[[maybe_unused]] auto {name}() {{", common, "{", *lines, "}", "}", "}"])


def source_of(examples: list[Example], around: dict) -> str:
    headers = dict.fromkeys(example.path for example in examples if example.path.endswith(".h"))
    included = dict.fromkeys(line.text for example in examples for line in example.lines
                             if line.text.startswith("#include "))
    text = [*(f"#include {name}" for name in around.get("includes", [])),
            *(f'#include "{path}"' for path in headers), *included]
    seen = Counter()
    for index, example in enumerate(examples):
        example.lines = [line for line in example.lines if line.text not in included]
        entry = Around.of(around["around"].get(example.path), seen[example.path])
        seen[example.path] += 1
        text.append(definition(example, f"example_{index}", entry, around.get("common", "")))
    return "\n".join(text) + "\n"


def compile_command(commands: Path, root: Path) -> list[str]:
    """The compiler and flags of COMPILED_LIKE."""
    entries = json.loads(commands.read_text(encoding="utf-8"))
    entry = next(e for e in entries if Path(e["file"]) == root / COMPILED_LIKE)
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    without = [word for word, last in zip(words, ["", *words])
               if last != "-o" and word not in ("-o", "-c") and not word.endswith(COMPILED_LIKE)]
    return [*without, f"-I{root}", "-w", "-fsyntax-only"]


def compile_examples(source: str, commands: Path, root: Path) -> bool:
    if not commands.is_file():
        print(f"examples: {commands} is missing: configure a build first, or --no-compile",
              file=sys.stderr)
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".cc", encoding="utf-8") as file:
        file.write(source)
        file.flush()
        command = [*compile_command(commands, root), file.name]
        return subprocess.run(command, cwd=root, check=False).returncode == 0


def files(root: Path) -> list[str]:
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    listed = sorted(path.relative_to(root).as_posix() for path in [*paths, *root.glob("*.md")]
                    if path.suffix in (".h", ".md"))
    return [path for path in listed if not path.startswith(GOLDEN)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--commands", type=Path, help="default: build/compile_commands.json")
    parser.add_argument("--no-compile", action="store_true", help="only look for examples and text")
    parser.add_argument("--print", action="store_true", help="print what would be compiled, and stop")
    options = parser.parse_args()
    root = options.root.resolve()

    found = Found()
    paths = files(root)
    for path in paths:
        read = read_header if path.endswith(".h") else read_page
        of_file = read(path, (root / path).read_text(encoding="utf-8"))
        found.examples += of_file.examples
        found.findings += of_file.findings
    around = yaml.safe_load((root / AROUND).read_text(encoding="utf-8"))
    with_examples = {example.path for example in found.examples}
    found.findings += [Finding(AROUND, 1, f"{path} has no example")
                       for path in around["around"] if path not in with_examples]
    for finding in found.findings:
        print(finding, file=sys.stderr)
    compiled_ones = [example for example in found.examples if not example.path.startswith(OF_DEVICES)]
    source = source_of(compiled_ones, around)
    if options.print:
        print(source, end="")
        return 0
    print(f"examples: {len(found.examples)} in {len(with_examples)} of {len(paths)} files, "
          f"{len(found.findings)} findings", flush=True)
    compiled = options.no_compile or compile_examples(
        source, options.commands or root / "build/compile_commands.json", root)
    return 0 if compiled and not found.findings else 1


if __name__ == "__main__":
    sys.exit(main())
