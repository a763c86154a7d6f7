"""Line breaks: what clang-format's Google style would do."""

import shutil
import subprocess

from conftest import ROOT, our_texts

import pytest

from api_gen import layout
from api_gen.breaks import LIMIT


def generated_sources() -> dict[str, str]:
    return {name: text for name, text in our_texts().items() if name.endswith((".h", ".cc"))}


A, B = "a" * 20, "b" * 30


@pytest.mark.parametrize("text, expected", [
    ("  short(a, b);", "  short(a, b);"),
    # arguments behind the bracket, or below it where that is better
    (f"  {'f' * 40}({A}, {A}, {A}, {A});",
     f"  {'f' * 40}({A}, {A},\n{' ' * 43}{A}, {A});"),
    (f"  {'f' * 90}({A}, b);", f"  {'f' * 90}(\n      {A}, b);"),
    # rather after = than in an argument list
    (f"  const auto x = {'f' * 40}({A}, {A});",
     f"  const auto x =\n      {'f' * 40}({A}, {A});"),
    # the last of two arguments may be broken inside, one of three may not
    (f"  return pair(first, second({B}, {B}, {B}));",
     f"  return pair(first, second({B}, {B},\n{' ' * 28}{B}));"),
    (f"  return call(first, second, third({B}, {B}, c));",
     f"  return call(first, second,\n              third({B}, {B}, c));"),
    # after a broken argument the next begins a line
    (f"  return pair(first({B}, {B}, {B}), second);",
     f"  return pair(first({B}, {B},\n                    {B}),\n              second);"),
    # a function's head is not broken behind its bracket
    (f"std::tuple<A, B> {'f' * 40}(const T& {A}, const T& {A});",
     f"std::tuple<A, B> {'f' * 40}(const T& {A},\n{' ' * 58}const T& {A});"),
    # constructors: on one line, initialisers on the next, each on its own
    ("  N(int a) : B(1), a_(a) {\n    go(a);\n  }", "  N(int a) : B(1), a_(a) { go(a); }"),
    (f"  N(int a, int b) : B(1), {A}({A}), c({B}) {{\n    go(a);\n  }}",
     f"  N(int a, int b)\n      : B(1), {A}({A}), c({B}) {{\n    go(a);\n  }}"),
    (f"  N(int a) : B(1), {B}({B}), {B}({B}) {{\n    go(a);\n  }}",
     f"  N(int a)\n      : B(1),\n        {B}({B}),\n        {B}({B}) {{\n    go(a);\n  }}"),
    # short functions, but neither branches nor lambdas
    ("void f() {\n}", "void f() {}"),
    ("int f(int a) {\n  return a;\n}", "int f(int a) { return a; }"),
    ("  if (a()) {\n    b();\n  }", "  if (a()) {\n    b();\n  }"),
    ("  } else {\n    b();\n  }", "  } else {\n    b();\n  }"),
    # chains of calls
    (f"  const auto r = n::F().a({B}).b({B}, {B});",
     f"  const auto r = n::F()\n                     .a({B})\n                     .b({B}, {B});"),
    # comments
    ("/// Word  " + "text " * 20, "/// Word  " + " ".join(["text"] * 18) + "\n///       text text"),
    # nothing to break at
    (f"  {'f' * 120};", f"  {'f' * 120};"),
])
def test_lines(text, expected):
    assert layout.fit(text) == expected + "\n"


def test_generated_code_fits_the_page():
    for name, text in generated_sources().items():
        assert all(len(line) <= LIMIT for line in text.split("\n")), name
        assert text.endswith("\n") and "\n\n\n" not in text


def clang_format() -> str | None:
    found = shutil.which("clang-format")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True,
                             timeout=60).stdout if found else ""
    return found if "version 14." in version else None


@pytest.mark.skipif(not clang_format(), reason="there is no clang-format 14 to compare with")
def test_generated_code_is_as_clang_format_would_have_it(tmp_path):
    shutil.copy(ROOT / ".clang-format", tmp_path)
    # But for ops.cc: lists of five and more in braces would become columns.
    sources = generated_sources()
    names = [name for name in sources if "/defs/" not in name and not name.endswith("/ops.cc")]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(sources[name], encoding="utf-8")
    # All at once: starting clang-format takes longer than most of them.
    found = subprocess.run([clang_format(), "--dry-run", "-Werror", *names], cwd=tmp_path, capture_output=True, text=True,
                           check=False, timeout=240)
    assert found.returncode == 0 and not found.stderr, found.stderr
