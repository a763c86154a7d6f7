"""tools/test: builds all, runs ctest with the chosen tests and then the tests of races, and fails
when one of them does."""

import pytest


def test_builds_everything_then_runs_ctest(repo):
    result = repo.run("test")
    assert result.returncode == 0, result.stderr
    build, _ = [call for call in repo.calls_of("cmake") if "--build" in call]
    assert "--target" not in build
    call, _ = repo.calls_of("ctest")
    assert call.startswith(f"ctest --test-dir {repo.root}/build --output-on-failure")
    assert "--no-tests=error" in call and call.endswith("-j 6"), "two tests for each of three processors"


def test_races_follow_in_a_build_of_their_own(repo):
    result = repo.run("test")
    _, build = [call for call in repo.calls_of("cmake") if "--build" in call]
    assert build.startswith(f"cmake --build {repo.root}/build/tsan ")
    assert build.endswith("--target race_tests")
    _, call = repo.calls_of("ctest")
    assert call.startswith(f"ctest --test-dir {repo.root}/build/tsan --output-on-failure")
    assert call.endswith("-j 3 -L ^races$")
    assert "now the tests of races again, with ThreadSanitizer and yields" in result.stdout


def test_a_build_only_runs_nothing(repo):
    assert repo.run("test", "--build-only").returncode == 0
    builds = [call for call in repo.calls_of("cmake") if "--build" in call]
    assert len(builds) == 2 and builds[1].endswith("--target race_tests")
    assert repo.calls_of("ctest") == []


@pytest.mark.parametrize("args", [("-R", "reshard"), ("-LE", "mpi"), ("--preset", "debug"),
                                  ("--preset=asan",)])
def test_races_do_not_follow_what_was_chosen(repo, args):
    assert repo.run("test", *args).returncode == 0
    assert len(repo.calls_of("ctest")) == 1
    assert "tsan" not in "".join(repo.calls)


@pytest.mark.parametrize("kind", ["asan", "tsan", "ptx"])
def test_gpus_under_sanitizers(repo, kind):
    repo.stand_in("setarch", 'shift; exec "$@"')
    assert repo.run("test", "--gpu", kind, "-R", "kernels").returncode == 0
    (build,) = [call for call in repo.calls_of("cmake") if "--build" in call]
    assert build.startswith(f"cmake --build {repo.root}/build ") and build.endswith(f"--target gpu_{kind}_tests")
    (call,) = repo.calls_of("ctest")
    assert call.endswith(f"-j 3 -C {kind} -L ^gpu_{kind}$ -R kernels")
    assert bool(repo.calls_of("setarch")) == (kind == "tsan")


def test_what_concerns_gpus_is_built_and_run_apart(repo):
    repo.stand_in("cmake", 'case "$*" in *find_cuda*) echo "-- found 13.0" ;; *--version) echo "cmake version 3.25.1" ;; esac')
    assert repo.run("test", "--gpu").returncode == 0
    configure, build, *races = [call for call in repo.calls_of("cmake") if "--preset" in call or "--build" in call]
    assert "-DAUTOPHI_GPU_TESTS=ON -DAUTOPHI_CUDA=ON" in configure
    assert "--target" not in build
    assert len(races) == 2 and "-DAUTOPHI_GPU_TESTS=ON" in races[0]
    release, tsan = repo.calls_of("ctest")
    assert release.endswith("-j 3 -L ^gpu") and tsan.endswith("-j 3 -L ^races$ -R cuda_on_cpu")


def test_without_nvcc_cuda_is_emulated_all_the_same(repo):
    assert repo.run("test", "--gpu", "-R", "softmax").returncode == 0
    (configure,) = [call for call in repo.calls_of("cmake") if "--preset" in call]
    assert "-DAUTOPHI_GPU_TESTS=ON" in configure and "AUTOPHI_CUDA=" not in configure
    (call,) = repo.calls_of("ctest")
    assert call.endswith("-j 3 -L ^gpu -R softmax")


def test_tests_of_cpus_are_built_without_those_of_gpus(repo):
    repo.run("test")
    assert "-DAUTOPHI_GPU_TESTS=OFF" in [call for call in repo.calls_of("cmake") if "--preset" in call][0]


def test_gpus_under_another_sanitizer(repo):
    result = repo.run("test", "--gpu", "msan")
    assert result.returncode != 0 and "--gpu expects asan, tsan, ptx or no value, not 'msan'" in result.stderr
    assert repo.calls_of("ctest") == []


def test_races_alone(repo):
    assert repo.run("test", "--preset", "tsan", "-R", "storage").returncode == 0
    (build,) = [call for call in repo.calls_of("cmake") if "--build" in call]
    assert build.endswith("--target race_tests")
    (call,) = repo.calls_of("ctest")
    assert call.endswith("-j 3 -L ^races$ -R storage")


def test_races_fail_the_run(repo):
    repo.stand_in("ctest", 'case "$*" in *races*) echo "1 tests failed out of 9"; exit 8 ;; esac')
    result = repo.run("test")
    assert result.returncode == 8
    assert result.stdout.splitlines()[-1] == "1 tests failed out of 9"


def test_races_are_run_without_random_addresses(repo):
    repo.stand_in("setarch", 'shift; exec "$@"')
    repo.run("test")
    assert [call.split()[:3] for call in repo.calls_of("setarch")] == [["setarch", "-R", "true"],
                                                                       ["setarch", "-R", "ctest"]]


def test_races_are_run_where_addresses_stay_random(repo):
    repo.stand_in("setarch", "exit 1")
    result = repo.run("test", "--preset=tsan")
    assert result.returncode == 0
    assert len(repo.calls_of("ctest")) == 1
    assert "setarch -R is not permitted here" in result.stdout


def test_the_first_race_ends_a_test(repo):
    repo.stand_in("ctest", 'echo "$TSAN_OPTIONS"')
    assert "halt_on_error=1" in repo.run("test", "--preset=tsan").stdout


def test_how_messages_are_copied_is_left_to_the_user(repo):
    setting = "OMPI_MCA_btl_vader_single_copy_mechanism"
    repo.stand_in("ctest", f'echo "copied by [${{{setting}-}}]"')
    assert "copied by []" in repo.run("test").stdout
    assert "copied by [none]" in repo.run("test", **{setting: "none"}).stdout


def test_selection_goes_to_ctest(repo):
    repo.run("test", "--no-setup", "-R", "reshard|comm", "-LE", "mpi", "-j", "1")
    assert repo.calls_of("ctest")[0].endswith("-j 1 -R reshard|comm -LE mpi")


@pytest.mark.parametrize("preset", ["debug", "asan", "tsan"])
def test_presets_have_their_own_folder(repo, preset):
    repo.run("test", "--preset", preset)
    assert f"--test-dir {repo.root}/build/{preset} " in repo.calls_of("ctest")[0]


def test_failing_tests_fail(repo):
    repo.stand_in("ctest", 'echo "50% tests passed, 1 tests failed out of 2"; exit 8')
    result = repo.run("test")
    assert result.returncode == 8
    assert result.stdout.splitlines()[-1] == "50% tests passed, 1 tests failed out of 2"
    assert len(repo.calls_of("ctest")) == 1


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


@pytest.fixture
def programs(repo):
    """Stand-ins for the test programs of an operator: they print their arguments."""
    repo.write("tests/phi/kernels/elementwise/unary_kernel_test.cc", "registered<kernels::relu, T>;\n")
    repo.write("tests/phi/kernels/relu_kernel_test.cc", "registered<kernels::relu_grad, T>;\n")
    repo.write("tests/phi/kernels/other_kernel_test.cc", "registered<kernels::relu6, T>;\n")

    def program(name, body=""):
        repo.write(f"build/bin/{name}", f'#!{repo.bin}/bash\necho "{name} $* $AUTOPHI_LOOP_ISA" >> '
                   f'"{repo.log}"\n{body}\n').chmod(0o755)
    repo.write("tests/ops/unary/relu.yaml", "op: relu\n")
    for name in ("autophi_op", "autophi_spmd", "op_rows_test", "op_parity_test", "gradient_test",
                 "phi_kernels_unary_kernel_test", "phi_kernels_relu_kernel_test"):
        program(name)
    repo.program = program
    return repo


def test_an_operator_builds_and_runs_what_concerns_it(programs):
    result = programs.run("test", "--no-setup", "--op", "relu")
    assert result.returncode == 0, result.stderr
    (build,) = [call for call in programs.calls_of("cmake") if "--build" in call]
    kernels = "phi_kernels_relu_kernel_test phi_kernels_unary_kernel_test"
    assert build.endswith(f"--target autophi_op autophi_spmd op_rows_test op_parity_test gradient_test {kernels}")
    run = [call.split() for call in programs.calls if call.startswith(("autophi_", "op_", "gradient_", "phi_"))]
    cases = f"--cases={programs.root}/tests/ops/unary/relu.yaml"
    assert run == [
        *([name, "--gtest_brief=1", *isa] for name in kernels.split() for isa in ([], ["base"])),
        ["autophi_spmd", cases],
        ["autophi_op", cases],
        ["autophi_op", cases, "--mesh=2x2", "--draws=2"],
        ["op_rows_test", "--op=relu", "--gtest_brief=1"],
        ["op_parity_test", "--op=relu", "--gtest_brief=1"],
        ["op_parity_test", "--op=relu", "--place=guarded", "--gtest_brief=1"],
        ["gradient_test", "--op=relu", "--gtest_brief=1"]]
    assert programs.calls_of("ctest") == []
    assert result.stdout.splitlines()[-1] == "[test] all tests of operator relu passed"


def test_an_operator_without_a_record_is_an_error(programs):
    result = programs.run("test", "--no-setup", "--op", "rellu")
    assert result.returncode != 0 and "there is no record tests/ops/FAMILY/rellu.yaml" in result.stderr


@pytest.mark.parametrize("name", ["autophi_op", "autophi_spmd", "op_rows_test", "op_parity_test", "gradient_test",
                                  "phi_kernels_relu_kernel_test"])
def test_a_failing_test_of_an_operator_fails(programs, name):
    programs.program(name, "exit 1")
    result = programs.run("test", "--no-setup", "--op", "relu")
    assert result.returncode != 0 and "passed" not in result.stdout


@pytest.mark.parametrize("args, message", [(("--preset", "fast"), "unknown preset 'fast'"),
                                           (("--fast",), "unknown argument '--fast'"),
                                           (("-R",), "-R needs a value"),
                                           (("--op", "relu", "--build-only"), "--build-only has no part in that")])
def test_wrong_arguments_are_named(repo, args, message):
    result = repo.run("test", *args)
    assert result.returncode != 0
    assert message in result.stderr
    assert repo.calls == []
