"""Checks that pages name only what exists, and that the prose of rewritten pages has 100 columns at
most.

Pages are the *.md files of the root, docs/ and benchmarks/. Each of these must exist:
- the file of a relative link, and the heading that its anchor names;
- a path in code or prose: from a folder of the root (`phi/core/box.h`), or the end of one with the
  suffix of a source (`loops/broadcast.h`, `box.h`). `*`, `{a,b}`, `<any>` and a word in capitals
  (`tests/fuzz/corpus/TARGET`) stand for names, and names with `my_` are the reader's;
- in code: the program in `build/bin/PROGRAM`, the subcommand in `autophi SUBCOMMAND`, flags,
  presets and targets of CMake, and variables `AUTOPHI_...`. EXEMPT lists names of other projects.
  Fences of cpp are compiled instead (tools/check_examples.py).

Usage: check_pages.py [--root DIR]
"""

import argparse
import json
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import Callable, Collection, Iterator, NamedTuple

MAX_COLUMNS = 100
# Pages whose prose is wrapped. A page that is rewritten joins them.
WRAPPED = (
    "benchmarks/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/README.md",
    "docs/adding_an_op.md",
    "docs/architecture.md",
    "docs/building.md",
    "docs/capture.md",
    "docs/capture_reference.md",
    "docs/checkpoints.md",
    "docs/custom_ops.md",
    "docs/data.md",
    "docs/devices.md",
    "docs/disk.md",
    "docs/explain.md",
    "docs/generator.md",
    "docs/gpu.md",
    "docs/gpu_backend.md",
    "docs/gpu_check.md",
    "docs/gpu_emulator.md",
    "docs/gpu_emulator_checks.md",
    "docs/gpu_kernels.md",
    "docs/gpu_options.md",
    "docs/job_checks.md",
    "docs/job_outputs.md",
    "docs/kernel_algorithms.md",
    "docs/kernel_results.md",
    "docs/kernels.md",
    "docs/memory.md",
    "docs/models.md",
    "docs/mutation_testing.md",
    "docs/nn.md",
    "docs/nn_reference.md",
    "docs/op_yaml.md",
    "docs/operations.md",
    "docs/out_of_core.md",
    "docs/python.md",
    "docs/python_interactive.md",
    "docs/python_package_tests.md",
    "docs/python_reference.md",
    "docs/python_testing.md",
    "docs/python_training.md",
    "docs/python_training_reference.md",
    "docs/random_numbers.md",
    "docs/rule_reference.md",
    "docs/running.md",
    "docs/save_and_resume.md",
    "docs/stablehlo.md",
    "docs/stablehlo_format.md",
    "docs/storage.md",
    "docs/supervise.md",
    "docs/tensors.md",
    "docs/test_methods.md",
    "docs/testing.md",
    "docs/training.md",
    "docs/training_step.md",
    "docs/weights.md",
    "docs/writing_rules.md",
)
# A program writes it (rules_verification --write).
WRITTEN = ("docs/rules_verification.md",)
FOLDERS = ("", "benchmarks", "docs")
SOURCES = r"\.(?:cc|cu|cuh|h|py|j2|cmake)"
NAMES = r"[\w*{},./-]"
# What names of flags, programs and variables are looked for in.
EVIDENCE = {"", ".cc", ".cmake", ".cu", ".h", ".in", ".j2", ".py", ".sh", ".toml", ".txt"}
OWN = ("tools/check_pages.py", "tests/tools/test_check_pages.py")
NOT_OF_THE_TREE = {"build", "shared"}

# Folders that builds write.
GENERATED = ("api/generated", "phi/generated")
# What pages name of other projects and of examples.
EXEMPT = {
    "Slurm": "--dependency --gpus-per-node --gpus-per-task --job-name --mpi --no-kill --nodelist --nodes --ntasks "
             "--ntasks-per-node --open-mode --overlap --requeue --signal --time",
    "Docker": "--cap-add --ipc",
    "g++": "--coverage",
    "TensorBoard": "--logdir",
    "CUDA, NCCL": "cuda_runtime.h mma.h nccl.h",
    "Megatron": "--dataset-impl megatron/core/datasets/indexed_dataset.py tools/preprocess_data.py",
    "nanoGPT": "prepare.py",
    "Paddle": "cum_maxmin_kernel.cc segment_pooling.cc",
    "libraries of operators, generated": "defs/*.cc",
}


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Named(NamedTuple):
    """A name in a page that does not exist."""

    name: str
    message: str


class Text(NamedTuple):
    """A piece of a page: `kind` is prose, code (a span) or the language of a fence."""

    line: int
    kind: str
    text: str


# Pages.

def fenced(text: str) -> Iterator[tuple[int, str | None, str]]:
    """Each line with its number and the language of the fence that it is in; None: prose."""
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.match(r"\s*```(.*)$", line)
        if match:
            fence = match.group(1).strip() if fence is None else None
        else:
            yield number, fence, line


def paragraphs(text: str) -> Iterator[Text]:
    """Fences line by line, and prose by paragraphs: a span may continue in the next line."""
    begin, lines = 0, []
    for number, fence, line in [*fenced(text), (0, None, "")]:
        if lines and (fence is not None or not line.strip()):
            yield Text(begin, "prose", "\n".join(lines))
            lines = []
        if fence is not None:
            yield Text(number, fence or "text", line)
        elif line.strip():
            begin = begin if lines else number
            lines.append(line)


def pieces(text: str) -> Iterator[Text]:
    """Fences, spans of code, and prose without its spans."""
    for paragraph in paragraphs(text):
        if paragraph.kind != "prose":
            yield paragraph
            continue
        for match in re.finditer(r"`([^`]+)`", paragraph.text):
            yield Text(paragraph.line + paragraph.text.count("\n", 0, match.start()), "code", match.group(1))
        plain = re.sub(r"`[^`]+`", lambda span: "`" + "\n" * span.group().count("\n") + "`", paragraph.text)
        for number, line in enumerate(plain.split("\n"), start=paragraph.line):
            yield Text(number, "prose", line)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for _, fence, line in fenced(text):
        match = re.match(r"#{1,6} (.*)", line)
        if fence is not None or not match:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        repeats = (f"{slug}-{number}" if number else slug for number in range(len(found) + 1))
        found.add(next(name for name in repeats if name not in found))
    return found


# The tree.

class Tree:
    def __init__(self, root: Path):
        self.root = root
        self.folders = sorted(path.name for path in root.iterdir()
                              if path.is_dir() and path.name not in NOT_OF_THE_TREE | {".git"})

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    @cached_property
    def pages(self) -> list[str]:
        found = [path for folder in FOLDERS for path in (self.root / folder).glob("*.md")]
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    @cached_property
    def paths(self) -> str:
        """All files and folders, a line each, with `/` in front."""
        found = [path for folder in self.folders for path in (self.root / folder).rglob("*")
                 if "__pycache__" not in path.parts]
        found += [self.root / folder for folder in self.folders]
        found += [path for path in self.root.iterdir() if path.is_file()]
        return "".join(f"/{path.relative_to(self.root).as_posix()}\n" for path in found)

    def has(self, pattern: str) -> bool:
        """Whether a path, or a path with this end, exists."""
        words = re.split(r"(\*|\{[^}]*\})", pattern)
        regex = "".join("[^/\n]*" if word == "*" else
                        "(?:" + "|".join(map(re.escape, word[1:-1].split(","))) + ")" if word[:1] == "{" else
                        re.escape(word) for word in words)
        return re.search(f"/{regex}$", self.paths, re.MULTILINE) is not None

    @cached_property
    def evidence(self) -> str:
        files = [self.root / path[1:] for path in self.paths.split("\n") if path and path[1:] not in OWN]
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files
                         if path.suffix in EVIDENCE and path.is_file() and "corpus" not in path.parts)

    @cached_property
    def flags(self) -> set[str]:
        found = re.findall(r"(?<![\w-])--([a-z][\w-]*)|\bDEFINE_\w+\(\s*(\w+)", self.evidence)
        return {name for names in found for name in names}

    @cached_property
    def words(self) -> set[str]:
        return set(re.findall(r"\w+", self.evidence))

    @cached_property
    def cmake_words(self) -> set[str]:
        files = [path for path in self.paths.split("\n") if re.search(r"CMakeLists\.txt$|\.cmake$", path)]
        text = "\n".join(self.read(path[1:]) for path in files)
        libraries = re.findall(r"autophi_kernel_library\((\w+)", text)
        return set(re.findall(r"\w+", text)) | {f"autophi_{name}" for name in libraries}

    @cached_property
    def presets(self) -> set[str]:
        file = self.root / "CMakePresets.json"
        presets = json.loads(file.read_text())["configurePresets"] if file.is_file() else []
        return {preset["name"] for preset in presets}

    @cached_property
    def subcommands(self) -> set[str]:
        """Those of the help text in tools/autophi.cc."""
        file = self.root / "tools/autophi.cc"
        return set(re.findall(r'"\s*autophi (\w+)', file.read_text())) if file.is_file() else set()


# What a page names.

def links(tree: Tree, page: str, piece: Text) -> Iterator[Named]:
    for target in re.findall(r"\]\(([^)\s]+)\)", piece.text) if piece.kind == "prose" else ():
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (tree.root / page).parent / path if path else tree.root / page
        if not to.exists():
            yield Named(path, f"links to {path}, which does not exist")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text(encoding="utf-8")):
            yield Named(target, f"links to {target}, but {path or page} has no such heading")


def candidates(tree: Tree, piece: Text) -> Iterator[str]:
    """Words that may be paths, with `*` for placeholders."""
    top = "|".join(map(re.escape, tree.folders))
    if piece.kind == "prose":
        plain = re.sub(r"\]\([^)\s]*\)", "]", piece.text)
        yield from re.findall(rf"(?<![\w/.~-])(?:{top})/[\w/.-]*\.\w+", plain)
        return
    text = re.sub(r"<[^<>/.]*>", "*", piece.text)
    for word in re.split(r"[\s=\[\]'\"]+", text):
        if word.startswith("<") and word.endswith(">"):
            word = word[1:-1]
        word = re.sub(r"(:\d+)?[,.;:)]*$", "", word.lstrip("(")).rstrip("/")
        if re.match(rf"(?:{top})/{NAMES}+$", word):
            yield word
        elif piece.kind == "code" and re.match(rf"{NAMES}*{SOURCES}$", word) and word[0] not in "./":
            yield word


def paths(tree: Tree, _: str, piece: Text) -> Iterator[Named]:
    if piece.kind in ("cpp", "python", "cmake"):
        return
    for word in candidates(tree, piece):
        pattern = re.sub(r"(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z.])", "*", word)
        if word.startswith(("build/", *GENERATED)) or pattern.startswith("*/") or "my_" in word:
            continue
        if not tree.has(pattern):
            yield Named(word, f"names {word}, which does not exist")


def commands(tree: Tree, _: str, piece: Text) -> Iterator[Named]:
    if piece.kind in ("prose", "cpp", "python"):
        return
    for program in re.findall(r"\bbuild(?:/\w+)?/bin/(\w+)", piece.text):
        if program not in tree.cmake_words:
            yield Named(program, f"names the program {program}, which no CMakeLists.txt builds")
    for name in re.findall(r"(?:^|build/bin/|mpirun .*\s)autophi ([a-z]\w*)", piece.text):
        if tree.subcommands and name not in tree.subcommands:
            yield Named(name, f"names the command autophi {name}, which tools/autophi.cc does not have")
    for flag in re.findall(r"(?<![\w-])--([a-z][\w-]*)", piece.text):
        if flag not in tree.flags:
            yield Named(f"--{flag}", f"names the flag --{flag}, which no source has")
    for preset in re.findall(r"--preset[ =](\w+)", piece.text):
        if preset not in tree.presets:
            yield Named(preset, f"names the preset {preset}, which CMakePresets.json does not have")
    for target in re.findall(r"--target[ =](\w+)", piece.text):
        if target not in tree.cmake_words:
            yield Named(target, f"names the target {target}, which no CMakeLists.txt has")


def variables(tree: Tree, _: str, piece: Text) -> Iterator[Named]:
    for name in re.findall(r"\bAUTOPHI_[A-Z0-9_]*[A-Z0-9]\b", piece.text):
        if name not in tree.words:
            yield Named(name, f"names {name}, which no source has")


CHECKS: tuple[Callable[[Tree, str, Text], Iterator[Named]], ...] = (links, paths, commands, variables)


def missing(tree: Tree, page: str) -> Iterator[tuple[int, Named]]:
    for piece in pieces(tree.read(page)):
        for look in CHECKS:
            for named in look(tree, page, piece):
                yield piece.line, named


def wide_lines(page: str, text: str) -> Iterator[Finding]:
    """Lines of prose that are too long. Tables, code and lines of one link or word are not prose."""
    for number, fence, line in fenced(text):
        is_one_word = len(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line).split()) == 1
        if fence is None and len(line) > MAX_COLUMNS and not line.lstrip().startswith("|") and not is_one_word:
            yield Finding(page, number, f"has {len(line)} columns of prose, at most {MAX_COLUMNS} are allowed")


def check(tree: Tree, exempt: Collection[str], wrapped: Collection[str]) -> list[Finding]:
    found = []
    for page in tree.pages:
        if page in WRITTEN:
            continue
        found += [Finding(page, line, named.message) for line, named in missing(tree, page) if named.name not in exempt]
        if page in wrapped:
            found += wide_lines(page, tree.read(page))
    return found + [Finding(OWN[0], 1, f"WRAPPED lists {page}, which does not exist")
                    for page in wrapped if page not in tree.pages]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    tree = Tree(parser.parse_args().root.resolve())
    # A copy of the scripts alone has no pages.
    found = check(tree, " ".join(EXEMPT.values()).split(), WRAPPED) if tree.pages else []
    for finding in found:
        print(finding, file=sys.stderr)
    print(f"pages: {len(tree.pages)}, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
