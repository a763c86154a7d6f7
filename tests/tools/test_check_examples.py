"""tools/check_examples.py: lines that are examples, text or neither; and that the compiler reads the examples."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE_ROOT = Path(__file__).resolve().parents[2]
SCRIPT = SOURCE_ROOT / "tools" / "check_examples.py"


def load():
    spec = importlib.util.spec_from_file_location("check_examples", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tool = load()


def examples_of(text: str) -> list[list[str]]:
    found = tool.read_header("phi/a.h", text)
    assert found.findings == []
    return [[line.text for line in example.lines] for example in found.examples]


def findings_of(text: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.message) for finding in tool.read_header("phi/a.h", text).findings]


def test_indented_lines_are_an_example():
    text = """// Dims: extents.
//
//   Dims d{64, 32};
//   for (int64_t n : d) {
//     use(n);
//   }
//
//   d.ndim() == 2;
//
// Of any rank, also
//   Dims none{};
// which holds one element.
#pragma once
"""
    assert examples_of(text) == [["Dims d{64, 32};", "for (int64_t n : d) {", "  use(n);", "}",
                                  "d.ndim() == 2;"], ["Dims none{};"]]


def test_an_example_may_stand_at_a_declaration():
    text = "namespace phi::a {\nclass A {\n  /// Counts:\n  ///\n  ///   a.count();\n  int count();\n};\n}\n"
    (example,) = tool.read_header("phi/a.h", text).examples
    assert example.namespace == "phi::a"
    assert example.lines == [tool.Line(5, "a.count();")]


def test_fields_and_lists_go_on_at_their_column():
    assert examples_of("""/// Saves.
///
/// Ranks    All of them; each
///          names the same tensors.
/// a longer name  is aligned by
///                itself.
/// The plan
///   - drops what is
///     not used, and
///   - moves the rest.
/// - So does
///   this.
void save();
""") == []


def test_text_has_bars():
    assert examples_of("// Stages:\n//   | stage   states\n//   |\n//   | 0       A\n") == []


@pytest.mark.parametrize("text, line, message", [
    ("// A.\n//    f();\n", 2, "is indented by 4 and continues no line above"),
    ("// - an item\n//      f();\n", 2, "is indented by 6 and continues no line above"),
    ("// A.\n//   | f();  // so\n", 2, "text that ends like a statement"),
    ("// A.\n//   f();\n//   | table\n", 3, "text with bars and an example in one block"),
    ("// A.\n//   | table\n//   f();\n", 3, "text with bars and an example in one block"),
    ("// A.\n//   f(" + "1, " * 32 + ");\n", 2, "has 105 columns, at most 100 are allowed"),
])
def test_what_is_neither_is_named(text, line, message):
    (found,) = findings_of(text)
    assert found[0] == line and message in found[1]


def test_fences_of_pages():
    found = tool.read_page("docs/a.md", "# A\n```cpp\nf();\n\ng();\n```\n```\n%0 = text\n```\n")
    assert [[line.text for line in example.lines] for example in found.examples] == [["f();", "", "g();"]]
    assert found.findings == []
    (finding,) = tool.read_page("docs/a.md", "```c++\nf();\n```\n").findings
    assert finding.line == 2 and "its fence says cpp" in finding.message


@pytest.mark.parametrize("code, expected", [
    ("...\nf();", ";\nf();"),
    ("... out is made\nf();", ";\nf();"),
    ("f(); ...; g();", "f(); ;; g();"),
    ("for (;;) ...  // all", "for (;;) ;// all"),
    ("[&](int i) { ... }", "[&](int i) { ;}"),
    ("template <typename... T> void f(T... x) { g(x...); }",
     "template <typename... T> void f(T... x) { g(x...); }"),
    ('f("...");  // and so on ...', 'f("...");  // and so on ...'),
])
def test_ellipses_stand_for_statements(code, expected):
    assert tool.without_ellipses(code) == expected


@pytest.fixture
def tree(tmp_path):
    """A repository of one header and one page, and the flags of a build."""
    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return tmp_path

    write("tools/autophi.cc", "")
    write("tools/examples.yaml", "around: {}\n")
    write("build/compile_commands.json", json.dumps([{
        "file": str(tmp_path / "tools/autophi.cc"),
        "command": "/usr/bin/ccache c++ -std=c++20 -o a.o -c " + str(tmp_path / "tools/autophi.cc")}]))
    write("phi/a.h", "// A.\n//\n//   A a{1, x};\n//   a.y = 3;\n#pragma once\n"
                     "namespace phi {\nstruct A { int x, y; };\n}\n")
    write("docs/a.md", "# A\n```cpp\n#include <phi/a.h>\n\nphi::A{}.x;\n```\n")
    write("tools/examples.yaml", "around:\n  phi/a.h: const int x = 2;\n")
    return write


def check(root, *options):
    return subprocess.run([sys.executable, SCRIPT, "--root", root, *options], capture_output=True,
                          text=True, timeout=60, check=False)


def test_examples_that_compile_pass(tree):
    result = check(tree("README.md", "# B\n"))
    assert result.returncode == 0, result.stderr
    assert result.stdout == "examples: 2 in 2 of 3 files, 0 findings\n"


def test_the_line_that_does_not_compile_is_named(tree):
    result = check(tree("phi/b.h", "// B.\n//\n//   const int b = 1;\n//\n//   undeclared(b);\n"))
    assert result.returncode == 1
    assert re.search(r"^phi/b\.h:5:\d+: error: .*undeclared", result.stderr, re.MULTILINE)
    assert check(tree("README.md", ""), "--no-compile").returncode == 0


def test_a_page_is_compiled_too(tree):
    result = check(tree("docs/b.md", "```cpp\nint b = \"b\";\n```\n"))
    assert result.returncode == 1 and "docs/b.md:2:" in result.stderr


def test_surroundings_may_differ_by_example(tree):
    root = tree("phi/b.h", "// B.\n//   template <typename T> void f(T) {}\n// and\n//   g(b);\n"
                           "// and\n//   namespace phi::c { int d; }\n")
    tree("tools/examples.yaml", """
common: void g(int);
around:
  phi/a.h: {before: const int x = 2;}
  phi/b.h:
    - {scope: namespace, after: template void f(int);}
    - int b;
    - {scope: file, before: 'namespace phi::c { extern int d; }'}
""")
    result = check(root)
    assert result.returncode == 0, result.stderr


def test_surroundings_of_nothing_are_named(tree):
    result = check(tree("tools/examples.yaml", "around:\n  phi/a.h: int x;\n  phi/gone.h: int x;\n"))
    assert result.returncode == 1
    assert "tools/examples.yaml:1: phi/gone.h has no example" in result.stderr


def test_without_a_build_it_says_so(tree):
    root = tree("README.md", "")
    (root / "build/compile_commands.json").unlink()
    result = check(root)
    assert result.returncode == 1 and "configure a build first, or --no-compile" in result.stderr


def test_clang_format_leaves_examples_alone(tmp_path):
    lines = ["// A.", "//", "//   const Schedule s = make(1);", "//   check(s);  // " + "long " * 12 + "one",
             "//   use(s, " + "1, " * 29 + "2);"]
    (tmp_path / ".clang-format").write_text((SOURCE_ROOT / ".clang-format").read_text())
    result = subprocess.run(["clang-format", "--assume-filename=a.h"], input="\n".join(lines) + "\n",
                            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.splitlines() == lines
