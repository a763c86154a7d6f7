"""What tools/mutate is made of: limits of commands, the changed file, ninja's graph, mirrors."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from mutation import processes  # noqa: E402
from mutation.errors import MutationError  # noqa: E402
from mutation.journal import Journal  # noqa: E402
from mutation.ninja_graph import NinjaGraph  # noqa: E402
from mutation.suites import Mirrors, CtestEntry, likeliness, read_tests  # noqa: E402


def run(script: str, **limits) -> processes.Outcome:
    return processes.run(["bash", "-c", script], Path("/"), dict(os.environ), **limits)


def test_a_command_has_its_status_and_output():
    outcome = run("echo out; echo err >&2; exit 3")
    assert (outcome.status, outcome.output, outcome.ended_by) == (3, "out\nerr\n", "")


def test_a_command_that_hangs_is_ended():
    outcome = run("sleep 60", limit_s=0.1)
    assert outcome.status is None and outcome.ended_by.startswith("hangs")


def test_a_command_that_takes_all_memory_is_ended():
    grow = f"exec {sys.executable} -c 'import time; x = b\"1\" * 200_000_000; time.sleep(60)'"
    outcome = run(grow, limit_bytes=100_000_000)
    assert outcome.status is None and outcome.ended_by == "takes all memory"


def test_output_without_end_is_cut_at_its_front():
    outcome = run(f"{sys.executable} -c 'print(\"x\" * 3_000_000); print(\"end\")'")
    assert len(outcome.output) < 1_000_000 and outcome.output.endswith("end\n")


def test_nothing_stays_behind():
    # In a process group of its own, as mpirun's ranks are.
    outcome = run("set -m; sleep 60 & echo $!")
    child = int(outcome.output)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()


@pytest.fixture
def tree(tmp_path) -> Path:
    (tmp_path / "a.cc").write_text("original\n")
    os.utime(tmp_path / "a.cc", ns=(10**18, 10**18 + 7))
    return tmp_path


def test_a_changed_file_comes_back_with_its_time(tree):
    file, old, new = tree / "a.cc", tree / "old.o", tree / "new.o"
    old.touch()
    os.utime(old, ns=(10**18, 10**18))
    with pytest.raises(ZeroDivisionError):
        with Journal(tree, tree / "notes").changed("a.cc", "mutant\n", [old, new]):
            assert file.read_text() == "mutant\n"
            new.touch()
            raise ZeroDivisionError
    assert file.read_text() == "original\n" and file.stat().st_mtime_ns == 10**18 + 7
    assert old.exists() and not new.exists()


def test_what_somebody_wrote_meanwhile_is_kept(tree, capsys):
    with Journal(tree, tree / "notes").changed("a.cc", "mutant\n", []):
        (tree / "a.cc").write_text("edited\n")
    assert (tree / "a.cc").read_text() == "original\n"
    (kept,) = (tree / "notes").glob("edited_*")
    assert kept.read_text() == "edited\n" and str(kept) in capsys.readouterr().out


def test_half_a_mutant_is_put_back_without_a_word(tree, capsys):
    with Journal(tree, tree / "notes").changed("a.cc", "mutant\n", []):
        (tree / "a.cc").write_text("mut")
    assert (tree / "a.cc").read_text() == "original\n" and capsys.readouterr().out == ""


def test_one_run_at_a_time_in_a_build_folder(tree):
    first = Journal(tree, tree / "notes")
    first.lock()
    with pytest.raises(MutationError, match="another tools/mutate runs in"):
        Journal(tree, tree / "notes").lock()


GRAPH = """rule cc
  command = cc
build build.ninja: RERUN_CMAKE | /t/a.py /t/a.cc
build gen/stamp gen/a.h | ${cmake_ninja_workdir}gen/a.h: gen /t/a.py
build a.o: cc /t/a.cc || gen/stamp
build b.o: cc /t/b$ b.cc
build lib.a: ar a.o
build bin/test: link b.o | lib.a
"""
DEPS = """a.o: #deps 2, deps mtime 1 (VALID)
    ../a.h
    /t/build/gen/a.h

"""


def test_the_graph_knows_sources_headers_and_generated_files():
    graph = NinjaGraph(Path("/t/build"), GRAPH, DEPS)
    assert graph.products(Path("/t/a.cc")) == ["a.o"]
    assert graph.products(Path("/t/a.h")) == ["a.o"]
    assert graph.products(Path("/t/b b.cc")) == ["b.o"]
    assert graph.products(Path("/t/a.py")) == ["gen/stamp"]
    assert graph.outputs("gen/stamp") == ["gen/stamp", "gen/a.h"]
    assert graph.closure(["bin/test"]) == {"bin/test", "lib.a", "a.o", "b.o", "gen/stamp"}
    assert graph.closure(["b.o"]) == {"b.o"}
    assert "build.ninja" not in graph.everything() and "gen/a.h" in graph.everything()


def a_test(name: str, folder: str, **rest) -> CtestEntry:
    return CtestEntry(name, folder, ["x"], Path("/"), {}, **rest)


def names(tests: list[CtestEntry]) -> list[str]:
    return [test.name for test in tests]


def test_mirrors_are_the_folder_its_parents_and_the_table(tmp_path):
    table = tmp_path / "mirrors.toml"
    table.write_text('["phi/core"]\nfolders = ["tests/more"]\ntests = ["^parity"]\n')
    mirrors = Mirrors([a_test("core", "tests/phi/core"), a_test("phi", "tests/phi"),
                       a_test("more", "tests/more"), a_test("parity_1", "tests/x")], table)
    assert names(mirrors.of("phi/core/a.cc")) == ["core", "more", "parity_1"]
    assert names(mirrors.of("phi/core/deep/a.cc")) == ["core", "more", "parity_1"]
    assert names(mirrors.of("phi/other/a.cc")) == ["phi"]
    assert mirrors.of("elsewhere/a.cc") == []


def test_every_row_of_the_table_names_folders_and_tests_of_this_tree():
    root = Path(__file__).resolve().parents[2]
    for source, row in Mirrors([])._table.items():
        assert set(row) <= {"folders", "tests"} and (root / source).is_dir(), source
        for folder in row.get("folders", []):
            assert (root / folder / "CMakeLists.txt").exists(), folder


def test_a_test_of_the_files_name_is_likelier():
    assert likeliness(a_test("core_dims_test", "tests/phi/core"), "phi/core/dims.h") == 0
    assert likeliness(a_test("core_test", "tests/phi"), "phi/core/dims.h") == 1
    assert likeliness(a_test("other", "tests/other"), "phi/core/dims.h") == 2


LISTING = """{"tests": [
  {"name": "a", "command": ["/b/bin/a", "x"], "backtrace": 1, "properties": [
     {"name": "ENVIRONMENT", "value": ["A=1=2"]}, {"name": "WORKING_DIRECTORY", "value": "/w"},
     {"name": "PASS_REGULAR_EXPRESSION", "value": ["well.+done"]}]},
  {"name": "s", "command": ["s"], "backtrace": 1, "properties": [
     {"name": "SKIP_RETURN_CODE", "value": 77}]},
  {"name": "not_built", "backtrace": 1}, {"name": "install_and_find_package", "backtrace": 1}],
 "backtraceGraph": {"files": ["/t/tests/a/CMakeLists.txt", "/t/cmake/f.cmake"],
                    "nodes": [{"file": 0}, {"file": 1, "parent": 0}]}}"""


def test_tests_are_read_and_judged_as_ctest_does(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/CTestTestfile.cmake").write_text('add_test([=[not_built]=] "/b/x" "a \\"b")\n')
    first, skipping, not_built = read_tests(LISTING, Path("/t"), tmp_path)
    assert not_built.command == ["/b/x", 'a "b']
    assert (first.folder, first.environment, first.cwd) == ("tests/a", {"A": "1=2"}, Path("/w"))
    outcome = processes.Outcome
    assert first.passed(outcome(1, "well\ndone", 0)) and not first.passed(outcome(0, "bad", 0))
    assert skipping.passed(outcome(77, "", 0)) and not skipping.passed(outcome(1, "", 0))
    assert not skipping.passed(outcome(None, "", 0, "hangs"))
