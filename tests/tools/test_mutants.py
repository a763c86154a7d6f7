"""Which small bugs tools/mutate makes of a text, and which texts it leaves alone."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from mutation import cpp_mutants, python_mutants  # noqa: E402
from mutation.draw import Draw, Files  # noqa: E402
from mutation.mutant import KINDS, mutants_of  # noqa: E402


def cpp(*lines: str) -> set[tuple[str, str]]:
    """(kind, the changed line) of the mutants of a function with this body."""
    text = "int f() {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    return {(m.kind, m.after) for m in mutants_of("a.cc", text, cpp_mutants.edits)}


def cpp_file(text: str) -> set[tuple[str, str]]:
    return {(m.kind, m.after) for m in mutants_of("a.cc", text, cpp_mutants.edits)}


def python(*lines: str) -> set[tuple[str, str]]:
    text = "def f():\n" + "".join(f"    {line}\n" for line in lines)
    return {(m.kind, m.after) for m in mutants_of("a.py", text, python_mutants.edits)}


@pytest.mark.parametrize("line, kind, after", [
    ("return a < b;", "comparison", "return a <= b;"),
    ("return a < b;", "comparison", "return a >= b;"),
    ("return a == b;", "comparison", "return a != b;"),
    ("return a + 1;", "one-more", "return a + 2;"),
    ("return a + 1;", "one-more", "return a + 0;"),
    ("return 1'000u;", "one-more", "return 1001u;"),
    ("return a + b;", "arithmetic", "return a - b;"),
    ("return a * b;", "arithmetic", "return a / b;"),
    ("sum += a;", "arithmetic", "sum -= a;"),
    ("sum += a;", "statement", "{}"),
    ("table[key].insert(a);", "statement", "{}"),
    ("*out = a;", "statement", "{}"),
    ("if (a) x = b;", "statement", "if (a) {}"),
    ("for (int i = 0; i < n; ++i) f(i);", "statement", "for (int i = 0; i < n; ++i) {}"),
    ("PHI_CHECK(a > b, errors::NotFound(\"x\"));", "statement", "{}"),
    ("if (a) return 3;", "guard", "{}"),
    ("if (a) { continue; }", "guard", "{}"),
    ("if (a) throw errors::NotFound(\"x\");", "guard", "{}"),
    ("return g(a, b, c);", "arguments", "return g(b, a, c);"),
    ("return g(a, b, c);", "arguments", "return g(a, c, b);"),
    ("return g<int, 3>(a, b + c);", "arguments", "return g<int, 3>(b + c, a);"),
    ("if (a > b) x = c;", "condition", "if (true) x = c;"),
    ("if (a > b) x = c;", "condition", "if (false) x = c;"),
    ("while (a) g();", "condition", "while (false) g();"),
    ("return a && b;", "logic", "return a || b;"),
    ("return !a;", "logic", "return a;"),
    ("return std::min(a, b);", "min-max", "return std::max(a, b);"),
    ("x.store(1, std::memory_order_release);", "memory-order",
     "x.store(1, std::memory_order_relaxed);"),
    ('section.read("steps", 1, &steps);', "key", "{}"),
    ('x = node["key"];', "key", 'x = node["~key"];'),
    ('return json.value("key", 3);', "key", 'return json.value("~key", 3);'),
])
def test_a_line_of_cpp_has_this_mutant(line, kind, after):
    assert (kind, after) in cpp(line)


@pytest.mark.parametrize("line", [
    "std::vector<int> x;", "const Pair<A, B>* x = g();", "static_assert(sizeof(a) == 8);",
    "throw errors::NotFound(\"{} of {}\", a + 1, b);", "LOG(INFO) << a + 1 << (b < c);",
    "return errors::NotFound(\"{} {}\", a, b);", "float x[3];", "std::array<int, 4> x{};",
    "// a < b + 1", "/* a < b */", "return \"a < b + 1\";", "return R\"(a < b && g(c, d))\";",
    "return 'a';", "x.reserve(y);", "return g<T, U>(a);", "using T = Map<A, 3>;",
    "static_cast<void>(a);",
])
def test_a_line_of_cpp_has_no_mutant(line):
    assert cpp(line) == set()


@pytest.mark.parametrize("text", [
    "#include <a>\n#if A < 3 && \\\n  B > 4\n#endif\n#define F(x) g(x, x + 1)\n",
    "constexpr int kSize = 16;\nint a = b < c ? 1 : 2;\n",
    "template <int N = 3>\nclass A : public B<N + 1> {\n  int x_ = 4;\n  int g(int b = 2);\n};\n",
    "enum class E { kA = 1, kB = 2 };\nstruct A {\n  bool operator<(const A& b) const;\n};\n",
])
def test_declarations_and_directives_have_no_mutants(text):
    assert cpp_file(text) == set()


def test_a_guard_is_not_also_an_if_that_is_false():
    assert ("condition", "if (false) return 3;") not in cpp("if (a) return 3;")


def test_a_declaration_is_not_a_statement_to_leave_out():
    assert {kind for kind, _ in cpp("Type x = g();", "Type y(a);", "auto z = h();")} == set()


def test_counting_in_the_head_of_a_loop_stays():
    mutants = cpp("for (int i = a; g(i); ++i) x++;")
    assert {after for kind, after in mutants if kind == "arithmetic"} == {
        "for (int i = a; g(i); ++i) x--;"}


def test_lambdas_and_constructors_are_code():
    assert ("comparison", "auto g = [&](int a) { return a >= b; };") in cpp_file(
        "int f() {\n  auto g = [&](int a) { return a < b; };\n}\n")
    assert ("statement", "A::A(int a) : a_(a), b_{a} { {} }") in cpp_file(
        "A::A(int a) : a_(a), b_{a} { g(a); }\n")


def test_a_mutant_keeps_the_lines_below_it():
    text = "int f() {\n  g(a,\n    b);\n  if (a &&\n      b) return 1;\n}\n"
    for mutant in mutants_of("a.cc", text, cpp_mutants.edits):
        assert mutant.apply(text).count("\n") == text.count("\n"), mutant


@pytest.mark.parametrize("line, kind, after", [
    ("return a < b", "comparison", "return a <= b"),
    ("return a in b", "comparison", "return a not in b"),
    ("return a is not None", "comparison", "return a is None"),
    ("return a[1:]", "one-more", "return a[2:]"),
    ("return a + b", "arithmetic", "return a - b"),
    ("self.a = b", "statement", "pass"),
    ("g(a)", "statement", "pass"),
    ("a += b", "statement", "pass"),
    ("if a: return b", "guard", "pass"),
    ("return g(a, b)", "arguments", "return g(b, a)"),
    ("return b if a else c", "condition", "return b if False else c"),
    ("return a and b", "logic", "return a or b"),
    ("return not a", "logic", "return (a)"),
    ("return any(a)", "min-max", "return all(a)"),
    ("return sorted(a)", "min-max", "return list(a)"),
    ('return a.get("key")', "key", 'return a.get("~key")'),
    ('return a["key"]', "key", 'return a["~key"]'),
])
def test_a_line_of_python_has_this_mutant(line, kind, after):
    assert (kind, after) in python(line)


@pytest.mark.parametrize("line", [
    '"""a < b"""', "x: list[1] = a", "raise ValueError(a + 1)", "assert a < b", "print(a + 1)",
    'return f"{a + 1}"', "a = b", "return folder / name", "pass  # a < b"])
def test_a_line_of_python_has_no_mutant(line):
    assert python(line) == set()


def test_python_declarations_have_no_mutants():
    text = "N = 3\n@cached(4)\ndef f(a=1, b: int = 2) -> X[3]:\n    return a\n"
    assert mutants_of("a.py", text, python_mutants.edits) == []


def test_every_kind_is_made_and_named():
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{kind}"' in text for kind in KINDS)


def test_ids_stay_when_other_lines_change():
    line = "bool f(int a, int b) { return a < b; }\n"
    here = mutants_of("a.cc", line, cpp_mutants.edits)
    below = mutants_of("a.cc", "// A comment more.\n" + line, cpp_mutants.edits)
    assert [m.id for m in here] == [m.id for m in below] and here[0].line + 1 == below[0].line
    assert len({m.id for m in here}) == len(here)


def drawn(folder: Path, sample: int, seed: int) -> list[str]:
    draw = Draw(Files(folder, ["a.cc", "b.cc", "c.py"]), sample, seed)
    return [str(mutant) for mutant in (draw.next() for _ in range(sample)) if mutant]


def test_a_draw_is_the_seeds_and_few_of_each_file(tmp_path):
    for name, lines in (("a.cc", 200), ("b.cc", 20)):
        body = "".join(f"  x{i} = a + b{i};\n" for i in range(lines))
        (tmp_path / name).write_text(f"void f() {{\n{body}}}\n")
    (tmp_path / "c.py").write_text("def f(a, b):\n    return a < b\n")
    first = drawn(tmp_path, 6, seed=7)
    assert first == drawn(tmp_path, 6, seed=7) and first != drawn(tmp_path, 6, seed=8)
    assert len(set(first)) == 6
    assert sum(name.startswith("a.cc") for name in first) <= 4
    assert len(drawn(tmp_path, 6, seed=9)) == 6
