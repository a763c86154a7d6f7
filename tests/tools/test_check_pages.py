"""tools/check_pages.py: stale links, anchors, paths and commands of pages are found, and so is wide prose."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE_ROOT = Path(__file__).resolve().parents[2]
SCRIPT = SOURCE_ROOT / "tools/check_pages.py"


def load():
    spec = importlib.util.spec_from_file_location("check_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = load()


@pytest.fixture
def root(tmp_path):
    for path, text in {
            "README.md": "# A\n",
            "CMakePresets.json": '{"configurePresets": [{"name": "release"}]}',
            "docs/other.md": "# Other\n\n## Use, and `more`\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n",
            "phi/core/box.h": "",
            "phi/CMakeLists.txt": "autophi_kernel_library(vision SOURCES a.cc)\nadd_program(autophi)\n"
                                  "add_program(box_bench)\n",
            "tools/autophi.cc": '"  autophi run JOB.yaml  run a job\\n"\nDEFINE_string(report, "", "");\n',
            "tools/test": "#!/bin/sh\ncase $1 in --no-setup) ;; esac\n"
                          "cmake --build build --preset release --target $AUTOPHI_PYTHON\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def findings(root, text, exempt=(), wrapped=()):
    (root / "docs/page.md").write_text(text)
    return [(finding.line, finding.message) for finding in tool.check(tool.Tree(root), exempt, wrapped)]


@pytest.mark.parametrize("text", [
    "[o](other.md) [u](other.md#use-and-more) [t](other.md#twice-1) [r](../README.md#a) [self](#here)\n\n# Here",
    "[web](https://example.org/gone.md) and `[code](gone.md)`",
    "`phi/core/box.h` `phi/core/box.h:12` `core/box.h`, `box.h`; `phi/core/` `phi/{core}/b*.h` `phi/<any>/box.h`",
    "`phi/ANY/b*.h` `<phi/core/box.h>` `build/asan/x.h` `phi/generated/kernels/x.h` `my_ops.h` `DIR/x.h`",
    "`/usr/include/x.h` `~/x.h` `model.json`",
    "See phi/core/box.h and docs/other.md; a/b is no path.",
    "`tools/test --no-setup` `autophi run` `build/bin/box_bench` `AUTOPHI_PYTHON`",
    "`cmake --build build --target autophi_vision` `cmake --preset release`",
    "```\nmpirun -n 2 build/bin/autophi run JOB.yaml --report=x\n```",
    "`import autophi` `find_package(autophi)` `autophi::autophi`",
    "```cpp\n#include <phi/core/gone.h>\n```",
])
def test_what_exists_passes(root, text):
    assert findings(root, text + "\n") == []


@pytest.mark.parametrize("text, line, name", [
    ("# A\n\n[a\nb](gone.md)", 4, "links to gone.md, which does not exist"),
    ("[a](other.md#gone)", 1, "links to other.md#gone, but other.md has no such heading"),
    ("[a](other.md#no-heading)", 1, "links to other.md#no-heading"),
    ("[a](#gone)", 1, "links to #gone, but docs/page.md has no such heading"),
    ("`phi/core/gone.h`", 1, "names phi/core/gone.h"),
    ("A `span\nphi/gone/box.h`.", 1, "names phi/gone/box.h"),
    ("a\n`phi/cor`", 2, "names phi/cor, which does not exist"),
    ("`ox.h`", 1, "names ox.h"),
    ("`phi/{core,gone}.h`", 1, "names phi/{core,gone}.h"),
    ("See docs/gone.md.", 1, "names docs/gone.md"),
    ("```\nuse phi/core/gone\n```", 2, "names phi/core/gone"),
    ("`tools/tests --no-setup`", 1, "names tools/tests"),
    ("`build/bin/gone_bench`", 1, "names the program gone_bench"),
    ("```sh\nbuild/bin/autophi gone x\n```", 2, "names the command autophi gone"),
    ("`autophi gone`", 1, "names the command autophi gone"),
    ("`tools/test --gone`", 1, "names the flag --gone"),
    ("`cmake --preset fast`", 1, "names the preset fast"),
    ("`cmake --target autophi_gone`", 1, "names the target autophi_gone"),
    ("Set AUTOPHI_GONE.", 1, "names AUTOPHI_GONE"),
])
def test_what_is_stale_is_named(root, text, line, name):
    (found,) = findings(root, text + "\n")
    assert found[0] == line and name in found[1]


def test_what_belongs_to_others_is_exempt(root):
    assert findings(root, "`nccl.h` `srun --nodes=2`\n", exempt=["nccl.h", "--nodes"]) == []
    assert len(findings(root, "`nccl.h` `srun --nodes=2`\n")) == 2


def test_prose_of_rewritten_pages_is_wrapped(root):
    wide = "word " * 21 + "end"
    text = f"{wide}\n| {wide} |\n```\n{wide}\n```\n- [{'x' * 120}](other.md)\n- {wide}\n{'x' * 100}\n"
    assert findings(root, text) == []
    assert findings(root, text, wrapped=["docs/page.md"]) == [
        (1, "has 108 columns of prose, at most 100 are allowed"),
        (7, "has 110 columns of prose, at most 100 are allowed")]


def test_a_rewritten_page_that_is_gone_is_named(root):
    assert findings(root, "", wrapped=["docs/gone.md"]) == [(1, "WRAPPED lists docs/gone.md, which does not exist")]


def test_the_command_fails_for_a_stale_page(root):
    (root / "docs/page.md").write_text("`phi/core/gone.h`\n")
    result = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 1 and "docs/page.md:1: names phi/core/gone.h, which does not exist" in result.stderr
