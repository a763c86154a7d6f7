"""tools/check_names.py: names of two things, folders and types that the glossary lacks, retired words."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_names.py"

pytestmark = pytest.mark.skipif(shutil.which("ctags") is None, reason="no ctags (Debian: universal-ctags)")


def check(root: Path, files: dict) -> list:
    subprocess.run(["git", "init", "-q", root], check=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    result = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, timeout=60,
                            check=False)
    found = result.stderr.splitlines()
    assert result.returncode == (1 if found else 0), result.stderr
    assert f"{len(found)} findings" in result.stdout
    return found


def in_phi(text: str) -> str:
    return f"namespace phi {{\n{text}\n}}\n"


@pytest.mark.parametrize("files, words", [
    ({"phi/a.h": in_phi("struct Held {};"), "api/b.h": in_phi("class Held {};")}, "phi::Held is defined in"),
    # A batch compiles several sources as one, with one anonymous namespace.
    ({"phi/a.cc": in_phi("namespace {\nenum class Way { kUp };\n}"), "phi/b.cc": in_phi("using Way = int;")},
     "phi::Way is defined in phi/a.cc:3, phi/b.cc:2; rename one"),
    ({"phi/a.cc": in_phi("int half(int x) { return x / 2; }"), "phi/b.cc": in_phi("int half(int x) { return x; }")},
     "phi::half(int x) is defined in"),
    ({f"{folder}/x.h": f"namespace {folder} {{\nstruct Row {{}};\n}}\n" for folder in ("phi", "api", "distributed")},
     "Row is the name of 3 types:"),
    ({"phi/a.cc": "int f();\n", "docs/glossary.md": "- `docs`: pages\n"}, "docs/glossary.md lacks the folder `phi`"),
    ({"docs/glossary.md": "- `docs`: pages\n- `Gone`: a type\n"}, "docs/glossary.md lists `Gone`"),
    ({"phi/a.h": in_phi("struct Dims {};"), "phi/api.h": '#include "phi/a.h"\n', "docs/glossary.md": "- `phi`: arrays\n- `docs`: pages\n"},
     "docs/glossary.md lacks `Dims` (phi/a.h:2)"),
    ({"docs/page.md": "The\ntwin runs.\n", "tools/retired_words.tsv": "# word\tinstead\n\\btwin\\b\temulator\n"},
     "docs/page.md:2: 'twin' is retired; write emulator"),
], ids=lambda value: value[:20] if isinstance(value, str) else "")
def test_finds(tmp_path, files, words):
    found = check(tmp_path, files)
    assert len(found) == 1 and words in found[0], found


@pytest.mark.parametrize("files", [
    # Kernels of two devices are overloads by their context; one of the others is compiled.
    {"phi/kernels/cpu/a.cc": in_phi("void AddKernel(const C& ctx) {}"),
     "phi/kernels/gpu/a.cu": in_phi("void AddKernel(const C& ctx) {}")},
    {"phi/gpu/find.cc": in_phi("int count() { return 1; }"),
     "phi/gpu/without_cuda/find.cc": in_phi("int count() { return 0; }")},
    # Members are read with their owner's name, and tests and examples are separate programs.
    {f"{folder}/x.h": f"namespace {folder} {{\nstruct {folder}Plan {{ enum Kind {{ kA }}; }};\n}}\n"
     for folder in ("phi", "api", "distributed")},
    {"phi/a.h": in_phi("struct Row {};"), "tests/a.h": in_phi("struct Row {};"), "examples/a.cc": in_phi("struct Row {};")},
    {"phi/a.cc": in_phi("int half(int x) { return x / 2; }"), "phi/b.cc": in_phi("int half(long x) { return x; }")},
], ids=["kernels", "stub", "members", "tests", "overloads"])
def test_accepts(tmp_path, files):
    assert check(tmp_path, files) == []
