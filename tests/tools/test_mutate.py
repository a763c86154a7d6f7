"""tools/mutate on a project of one source, whose compiler is grep: verdicts, the output, and that
the tree is restored."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

SOURCE = "phi/core/toy.cc"
TEXT = """// A toy.
bool f(int a, int b) {
  if (a == b) return true;
  quietly(a, b);
  return a < b;
}
"""
BUILD_NINJA = """rule make
  command = make $in
build toy.o: make {root}/phi/core/toy.cc || nothing
build toy_test | toy_test.map: make toy.o
build other_test: make other.o
"""
# Makes toy.o of the source where it is missing or older, as ninja would, and toy_test of that.
# Lines that say quietly have no code; what turns == is refused.
NINJA = r"""
case " $* " in *" -t deps "*) exit 0 ;; *" build.ninja "*) exit 0 ;; esac
source="{root}/phi/core/toy.cc"; cd "{root}/build"
if [ ! -e toy.o ] || [ "$source" -nt toy.o ]; then
  if grep -q 'a != b' "$source"; then echo "toy.cc:3: error: no"; exit 1; fi
  grep -v -e '^#' -e quietly -e '^  {}$' "$source" > toy.o
  echo compiled >> "{root}/compiled"
fi
case " $* " in *toy_test*) cat toy.o > toy_test ;; esac
"""
# Notices another operator and a guard left out; a condition made true makes it wait, if it may.
TEST = r"""
if [ -e "{root}/may_wait" ] && grep -q 'if (true)' "$1"; then
  echo waits >> "{root}/waits"
  exec sleep 8
fi
grep -q 'return a < b' "$1" && grep -q 'if (a' "$1"
"""


class Toy:
    def __init__(self, repo):
        self.repo = repo
        for name in ("sleep", "cp"):
            (repo.bin / name).symlink_to(shutil.which(name))
        root = str(repo.root)
        self.source = repo.write(SOURCE, TEXT)
        os.utime(self.source, ns=(10**18, 10**18 + 7))
        repo.write("build/build.ninja", BUILD_NINJA.replace("{root}", root))
        repo.stand_in("ninja", NINJA.replace("{root}", root))
        repo.stand_in("toy_check", TEST.replace("{root}", root), logged=False)
        self.listing(["toy_check", f"{root}/build/toy_test"])

    def listing(self, command: list[str]) -> None:
        graph = {"files": [f"{self.repo.root}/tests/phi/core/CMakeLists.txt"],
                 "nodes": [{"file": 0}]}
        tests = [{"name": "toy_test", "backtrace": 0, "command": command, "properties": []},
                 {"name": "other_test", "backtrace": 0, "properties": [],
                  "command": ["toy_check", f"{self.repo.root}/build/other_test"]}]
        self.repo.write("listing.json", json.dumps({"backtraceGraph": graph, "tests": tests}))
        self.repo.stand_in("ctest", f'cat "{self.repo.root}/listing.json"')

    def mutate(self, *args: str):
        return self.repo.run("mutate", *args, cwd=self.repo.root)

    def start(self, *args: str) -> subprocess.Popen:
        """Runs until the test of a mutant waits."""
        self.repo.write("may_wait", "")
        environment = {"PATH": str(self.repo.bin), "AUTOPHI_PYTHON": sys.executable}
        process = subprocess.Popen([self.repo.bin / "bash", self.repo.root / "tools/mutate", *args],
                                   env=environment, cwd=self.repo.root, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        while not (self.repo.root / "waits").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        return process

    def is_as_it_was(self) -> bool:
        return self.source.read_text() == TEXT and self.source.stat().st_mtime_ns == 10**18 + 7


@pytest.fixture
def toy(repo) -> Toy:
    return Toy(repo)


def test_verdicts_and_survivors_are_shown(toy):
    result = toy.mutate(SOURCE, "--only=phi/core/toy.cc:5", "--only=phi/core/toy.cc:3:guard",
                        "--only=phi/core/toy.cc:3:comparison", "--only=phi/core/toy.cc:4:statement",
                        "--json=results.json")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert sum("caught by toy_test: phi/core/toy.cc:5 comparison" in line for line in lines) == 2
    assert any("caught by toy_test: phi/core/toy.cc:3 guard" in line for line in lines)
    assert any("does not compile (toy.cc:3: error: no)" in line for line in lines)
    assert any("same code: phi/core/toy.cc:4 statement" in line for line in lines)
    assert "  - return a < b;\n  + return a <= b;" in result.stdout
    assert lines[-1] == ("caught 3 of 3 (100.0 %); not counted: 1 with the same code and 1 that do "
                         "not compile")
    assert toy.is_as_it_was()


def test_a_survivor_is_listed_with_the_tests_that_let_it_pass(toy):
    toy.repo.stand_in("toy_check", logged=False)
    result = toy.mutate(SOURCE, "--only=phi/core/toy.cc:3:guard", "--at-least=90", "--json=r.json")
    assert result.returncode == 1
    assert "SURVIVED: phi/core/toy.cc:3 guard" in result.stdout
    assert result.stdout.endswith("  not noticed by toy_test\ncaught 0 of 1 (0.0 %)\n")


def test_results_are_written_as_json(toy, tmp_path):
    file = tmp_path / "results.json"
    toy.mutate(SOURCE, "--sample=3", "--seed=5", f"--json={file}")
    results = json.loads(file.read_text())
    assert results["seed"] == 5 and results["counted"] == 3
    one = results["mutants"][0]
    assert one["file"] == SOURCE and one["result"] in ("caught", "survived", "same code",
                                                       "does not compile")


def test_a_run_that_was_cut_short_is_resumed(toy):
    toy.mutate(SOURCE, "--only=phi/core/toy.cc:5", "--json=results.json")
    compiled = (toy.repo.root / "compiled").read_text()
    result = toy.mutate(SOURCE, "--only=phi/core/toy.cc:5", "--json=results.json", "--resume")
    assert result.stdout.endswith("caught 2 of 2 (100.0 %)\n")
    assert (toy.repo.root / "compiled").read_text() == compiled


def test_a_file_that_no_test_has_and_one_that_is_not_built(toy):
    toy.repo.write("phi/core/lonely.cc", TEXT)
    result = toy.mutate("phi/core/lonely.cc", "--only=phi/core/lonely.cc:5")
    assert "not in this build: phi/core/lonely.cc:5" in result.stdout
    toy.listing(["toy_check", "elsewhere"])
    result = toy.mutate(SOURCE, "--only=phi/core/toy.cc:3:guard")
    assert "not noticed by any test: no program of theirs has it" in result.stdout


def test_a_sample_draws_again_for_what_does_not_count(toy):
    result = toy.mutate(SOURCE, "--sample=4", "--seed=1")
    assert re.search(r"^caught \d of 4 ", result.stdout.splitlines()[-1]), result.stdout


def test_what_a_mutant_was_built_into_is_made_again(toy):
    toy.mutate(SOURCE, "--only=phi/core/toy.cc:5")
    assert (toy.repo.root / "build/toy_test").read_text() == TEXT.replace("  quietly(a, b);\n", "")
    # Unchanged, two mutants, unchanged: the second mutant needs no unchanged build before it.
    assert (toy.repo.root / "compiled").read_text().count("\n") == 4


def test_tests_must_pass_unchanged(toy):
    toy.repo.stand_in("toy_check", "echo broken; exit 1", logged=False)
    result = toy.mutate(SOURCE, "--sample=2")
    assert result.returncode == 2 and toy.is_as_it_was()
    assert "toy_test fails with the unchanged tree" in result.stderr and "broken" in result.stderr


def test_what_has_passed_unchanged_is_not_run_unchanged_again(toy):
    toy.repo.write(".gitignore", "build/\ncompiled\n")
    for command in (["init", "-q"], ["add", "phi", "tools"]):
        subprocess.run(["git", "-C", toy.repo.root, *command], check=True, timeout=60)
    toy.mutate(SOURCE, "--only=phi/core/toy.cc:5")
    assert "1 were known to" in toy.mutate(SOURCE, "--only=phi/core/toy.cc:5").stdout
    toy.repo.write("data.yaml", "a: 1\n")
    assert "known" not in toy.mutate(SOURCE, "--only=phi/core/toy.cc:5").stdout


def test_sigterm_puts_the_file_back(toy):
    process = toy.start(SOURCE, "--only=phi/core/toy.cc:3:condition")
    assert "if (true)" in toy.source.read_text()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM, output
    assert toy.is_as_it_was() and not (toy.repo.root / "build/toy.o").exists()


def test_the_next_start_puts_back_what_sigkill_left(toy):
    process = toy.start(SOURCE, "--only=phi/core/toy.cc:3:condition")
    process.kill()
    process.communicate(timeout=30)
    assert "if (true)" in toy.source.read_text()
    result = toy.mutate(SOURCE, "--only=phi/core/toy.cc:5")
    assert f"{SOURCE} is restored after an interrupted run" in result.stdout
    assert toy.is_as_it_was() and result.stdout.endswith("caught 2 of 2 (100.0 %)\n")


def test_uncommitted_changes_are_kept(toy):
    toy.source.write_text(TEXT + "// Not committed.\n")
    toy.mutate(SOURCE, "--only=phi/core/toy.cc:5")
    assert toy.source.read_text() == TEXT + "// Not committed.\n"


def test_a_listed_mutant_runs_again_by_its_id(toy):
    listed = toy.mutate("--list", SOURCE).stdout
    name = re.search(r"toy\.cc:5 comparison #(\w+)", listed).group(1)
    assert toy.source.stat().st_mtime_ns == 10**18 + 7
    assert "1/1" in toy.mutate(SOURCE, f"--only={name}").stdout


@pytest.mark.parametrize("args, message", [
    (("nowhere.cc",), "no file or folder 'nowhere.cc'"),
    ((SOURCE, "--only=12345678"), "no mutant is named '12345678'"),
    ((SOURCE, "--tests=none_such"), "no test is named like 'none_such'"),
    ((SOURCE, "--build=no_such_build"), "is no configured Ninja build"),
])
def test_wrong_arguments_are_named(toy, args, message):
    result = toy.mutate(*args)
    assert result.returncode == 2 and message in result.stderr
