"""tools/check: runs every check on what changed, and names those that failed."""

import json
import subprocess

import pytest


@pytest.fixture
def git_repo(repo):
    """One commit with a source file; clang-format finds fault with files that say `bad`."""
    repo.stand_in("clang-format", '! grep -l "bad" "${@:3}"')
    repo.write("phi/core/old.cc", "// bad format, but committed\n")
    repo.write("tools/examples.yaml", "around: {}\n")
    repo.write("build/compile_commands.json", json.dumps(
        [{"file": str(repo.root / "tools/autophi.cc"), "command": "g++ -c tools/autophi.cc"}]))
    repo.write(".gitignore", "build/\n")
    git = ["git", "-C", str(repo.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "start"]):
        subprocess.run(git + command, check=True, timeout=60)
    return repo


def test_clean_tree_passes(git_repo):
    result = git_repo.run("check")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[check] all checks passed"
    assert git_repo.calls_of("ctest") == []


def test_changed_and_new_files_are_formatted(git_repo):
    git_repo.write("phi/core/new.cc", "// bad\n")
    result = git_repo.run("check", "--no-build")
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1] == "[check] error: failed: format"
    assert "phi/core/new.cc" in result.stdout and "old.cc" not in result.stdout


def test_all_looks_at_committed_files_too(git_repo):
    result = git_repo.run("check", "--all", "--no-build")
    assert result.returncode != 0
    assert "phi/core/old.cc" in result.stdout


def test_every_check_runs_and_failures_are_listed(git_repo):
    git_repo.write("phi/core/new.cc", '#include "api/tensor/tensor.h"\n' * 801)
    git_repo.stand_in("cmake", 'case "$1" in --preset) exit 1 ;; esac')
    result = git_repo.run("check")
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1] == "[check] error: failed: include rules; file sizes; build"
    assert "phi/core/new.cc: 801 lines, at most 800" in result.stdout


def test_deleted_files_are_left_alone(git_repo):
    git_repo.write("phi/core/kept.cc", "// fine\n")
    (git_repo.root / "phi/core/old.cc").unlink()
    assert git_repo.run("check", "--no-build").returncode == 0


def test_golden_files_belong_to_it(git_repo):
    git_repo.write("tests/api_gen/test_golden.py", "def test_golden():\n    assert False\n")
    result = git_repo.run("check", "--no-build")
    assert result.stderr.splitlines()[-1] == "[check] error: failed: generator"


def test_examples_are_compiled_unless_nothing_is_built(git_repo):
    git_repo.stand_in("g++", 'case "$*" in *-fsyntax-only*) exit 1 ;; esac; echo 12.2.0')
    assert git_repo.run("check", "--no-build").returncode == 0
    result = git_repo.run("check")
    assert result.stderr.splitlines()[-1] == "[check] error: failed: examples"
    git_repo.write("phi/core/new.h", "// A table.\n//\n//   | int a = 0;\n")
    result = git_repo.run("check", "--no-build")
    assert "phi/core/new.h:3: text that ends like a statement" in result.stderr
    assert result.stderr.splitlines()[-1] == "[check] error: failed: examples"


def test_pages_name_what_exists(git_repo):
    git_repo.write("docs/a.md", "`phi/core/gone.h`\n")
    result = git_repo.run("check", "--no-build")
    assert "docs/a.md:1: names phi/core/gone.h, which does not exist" in result.stderr
    assert result.stderr.splitlines()[-1] == "[check] error: failed: pages"


def test_tests_on_demand(git_repo):
    assert git_repo.run("check", "--test").returncode == 0
    assert len(git_repo.calls_of("ctest")) == 2  # all tests, and those of races again


def test_tidy_reads_only_changed_compiled_sources(git_repo):
    new = git_repo.write("phi/core/new.cc", "// fine\n")
    git_repo.write("phi/core/not_built.cc", "// fine\n")
    git_repo.write("build/compile_commands.json", json.dumps(
        [{"file": str(file), "command": f"g++ -c {file}"} for file in (new, git_repo.root / "phi/core/old.cc")]))
    git_repo.stand_in("clang-tidy", 'case "$*" in *new.cc) exit 1 ;; esac')
    result = git_repo.run("check", "--no-build", "--tidy")
    assert result.stderr.splitlines()[-1] == "[check] error: failed: clang-tidy"
    (call,) = git_repo.calls_of("clang-tidy")
    assert call.endswith(f" {new}")


def test_tidy_reads_precompiled_headers_as_plain_ones(git_repo):
    new = git_repo.write("phi/core/new.cc", "// fine\n")
    header = git_repo.write("build/pch/cmake_pch.hxx", "#include <vector>\n")
    git_repo.write("build/pch/cmake_pch.hxx.gch", "of g++")
    command = f"g++ -O3 -fpch-preprocess -Winvalid-pch --param=ggc-min-heapsize=1 -Wall -include {header} -c {new}"
    git_repo.write("build/compile_commands.json", json.dumps([{"file": str(new), "command": command}]))
    git_repo.stand_in("clang-tidy", 'for file in "$2"/*; do cat "$file" > "build/${file##*/}"; done')
    assert git_repo.run("check", "--no-build", "--tidy").returncode == 0
    (entry,) = json.loads((git_repo.root / "build/compile_commands.json").read_text())
    before, _, after = entry["command"].partition(" -include ")
    plain, _, after = after.partition(" ")
    assert before == "g++ -O3 -Wall" and after == f"-c {new}"
    assert plain != str(header) and (git_repo.root / "build" / plain.rpartition("/")[2]).read_text() == "#include <vector>\n"


def test_unknown_base_is_named(git_repo):
    result = git_repo.run("check", "--base", "nowhere")
    assert result.returncode != 0
    assert "no git commit 'nowhere'" in result.stderr
