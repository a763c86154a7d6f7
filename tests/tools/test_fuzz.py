"""tools/fuzz: builds the targets, runs those that were chosen, and fails when one has found something."""

import pytest

TARGETS = ("safetensors", "index", "job_yaml", "case_yaml", "command_line")


@pytest.fixture
def fuzz_repo(repo):
    """Each target is a program that finds nothing."""
    repo.stand_in("clang++")
    for target in TARGETS:
        repo.write(f"build/fuzz/bin/fuzz_{target}", f'#!{repo.bin}/bash\necho "fuzz_{target} $*" >> "{repo.log}"\n').chmod(0o755)
    return repo


def test_builds_and_runs_all(fuzz_repo):
    result = fuzz_repo.run("fuzz")
    assert result.returncode == 0, result.stderr
    (build,) = [call for call in fuzz_repo.calls_of("cmake") if "--build" in call]
    assert build.startswith(f"cmake --build {fuzz_repo.root}/build/fuzz ") and build.endswith("--target fuzz_targets")
    for target in TARGETS:
        (call,) = fuzz_repo.calls_of(f"fuzz_{target}")
        assert "-max_total_time=600" in call
        assert call.endswith(f"build/fuzz/corpus/{target} {fuzz_repo.root}/tests/fuzz/corpus/{target}")
    assert result.stdout.splitlines()[-1] == "[fuzz] nothing found"


def test_a_dictionary_is_used_where_there_is_one(fuzz_repo):
    fuzz_repo.write("tests/fuzz/dictionaries/index.dict", "")
    assert fuzz_repo.run("fuzz", "--no-build").returncode == 0
    assert "-dict=" in fuzz_repo.calls_of("fuzz_index")[0]
    assert "-dict=" not in fuzz_repo.calls_of("fuzz_safetensors")[0]


def test_one_target_for_some_time(fuzz_repo):
    result = fuzz_repo.run("fuzz", "--seconds=7", "--no-build", "index")
    assert result.returncode == 0, result.stderr
    assert [call.split()[0] for call in fuzz_repo.calls] == ["fuzz_index"]
    assert "-max_total_time=7" in fuzz_repo.calls[0]


def test_a_find_fails_the_run_and_the_others_run_too(fuzz_repo):
    found = fuzz_repo.root / "build/fuzz/bin/fuzz_index"
    found.write_text(found.read_text() + 'echo "SUMMARY: AddressSanitizer: heap-use-after-free"\nexit 77\n')
    result = fuzz_repo.run("fuzz", "--no-build", "index", "case_yaml")
    assert result.returncode != 0
    assert "SUMMARY: AddressSanitizer" in result.stdout
    assert result.stderr.splitlines()[-1] == "[fuzz] error: found something: index; see build/fuzz/found"
    assert len(fuzz_repo.calls_of("fuzz_case_yaml")) == 1


@pytest.mark.parametrize("args, message", [
    (("jbo_yaml",), "unknown target 'jbo_yaml'; known: safetensors index"),
    (("--seconds=soon",), "--seconds expects a number, got 'soon'"),
    (("--fast",), "unknown argument '--fast'"),
])
def test_wrong_arguments(fuzz_repo, args, message):
    result = fuzz_repo.run("fuzz", *args)
    assert result.returncode != 0 and message in result.stderr
    assert fuzz_repo.calls == []
