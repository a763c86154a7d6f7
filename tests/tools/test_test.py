"""tools/test: builds all, runs ctest with the chosen tests, and fails when ctest does."""

import pytest


def test_builds_everything_then_runs_ctest(repo):
    result = repo.run("test")
    assert result.returncode == 0, result.stderr
    assert "--target" not in repo.calls_of("cmake")[-1]
    (call,) = repo.calls_of("ctest")
    assert call.startswith(f"ctest --test-dir {repo.root}/build --output-on-failure")
    assert "--no-tests=error" in call and call.endswith("-j 2")


def test_selection_goes_to_ctest(repo):
    repo.run("test", "--no-setup", "-R", "reshard|comm", "-LE", "mpi", "-j", "1")
    assert repo.calls_of("ctest")[0].endswith("-j 1 -R reshard|comm -LE mpi")


@pytest.mark.parametrize("preset", ["debug", "asan"])
def test_presets_have_their_own_folder(repo, preset):
    repo.run("test", "--preset", preset)
    assert f"--test-dir {repo.root}/build/{preset} " in repo.calls_of("ctest")[0]


def test_failing_tests_fail(repo):
    repo.stand_in("ctest", 'echo "50% tests passed, 1 tests failed out of 2"; exit 8')
    result = repo.run("test")
    assert result.returncode == 8
    assert result.stdout.splitlines()[-1] == "50% tests passed, 1 tests failed out of 2"


def test_failing_build_runs_no_tests(repo):
    repo.stand_in("cmake", 'case "$1" in --build) exit 1 ;; --version) echo "x y 3.25" ;; esac')
    assert repo.run("test").returncode != 0
    assert repo.calls_of("ctest") == []


def test_ci_keeps_the_results(repo):
    repo.run("test", CI="true")
    assert "--output-junit test_results.xml" in repo.calls_of("ctest")[0]


def test_undefined_behaviour_ends_a_test(repo):
    repo.stand_in("ctest", 'echo "$UBSAN_OPTIONS"')
    assert "halt_on_error=1" in repo.run("test", "--preset=asan").stdout


def test_only_ranks_of_mpirun_may_leak(repo):
    repo.stand_in("ctest", 'echo "own=$ASAN_OPTIONS ranks=$OMPI_MCA_mca_base_env_list"')
    output = repo.run("test", "--preset=asan", ASAN_OPTIONS="verbosity=1").stdout
    assert "own=allocator_may_return_null=1:verbosity=1 ranks=" in output
    assert "ranks=ASAN_OPTIONS=allocator_may_return_null=1:verbosity=1:detect_leaks=0" in output


@pytest.mark.parametrize("args, message", [(("--preset", "fast"), "unknown preset 'fast'"),
                                           (("--fast",), "unknown argument '--fast'"),
                                           (("-R",), "-R needs a value")])
def test_wrong_arguments_are_named(repo, args, message):
    result = repo.run("test", *args)
    assert result.returncode != 0
    assert message in result.stderr
    assert repo.calls == []
