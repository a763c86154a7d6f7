"""tools/quickstart: builds autophi alone and starts one process per mesh position."""

import sys

import pytest

JOB = "mesh: {shape: [2, 3], dims: [dp, tp]}\n"


@pytest.fixture
def job_repo(repo):
    repo.write("examples/gpt_train.yaml", JOB)
    return repo


def test_ranks_are_the_mesh_product(job_repo):
    result = job_repo.run("quickstart")
    assert result.returncode == 0, result.stderr
    (call,) = job_repo.calls_of("mpirun")
    assert call == ("mpirun -n 6 --oversubscribe --allow-run-as-root "
                    "build/bin/autophi run examples/gpt_train.yaml")


def test_builds_only_the_command(job_repo):
    job_repo.run("quickstart")
    configure, build = [call for call in job_repo.calls_of("cmake") if "--version" not in call]
    assert f"--preset release -DPython3_EXECUTABLE={sys.executable}" in configure
    assert build.endswith("--target autophi")


def test_a_first_build_is_in_batches(job_repo):
    job_repo.run("quickstart")
    (configure,) = [call for call in job_repo.calls_of("cmake") if "--preset" in call]
    assert configure.count("-DAUTOPHI_UNITY=ON") == 1 and "AUTOPHI_CUDA" not in configure


def test_a_build_that_is_there_is_not_configured_again(job_repo):
    job_repo.write("CMakePresets.json", "{}")
    job_repo.write("build/CMakeCache.txt", f"Python3_EXECUTABLE:FILEPATH={sys.executable}\n")
    job_repo.write("build/build.ninja", "")
    job_repo.run("quickstart")
    assert not [call for call in job_repo.calls_of("cmake") if "--preset" in call]
    job_repo.run("quickstart", "--no-setup", "--cuda")
    (configure,) = [call for call in job_repo.calls_of("cmake") if "--preset" in call]
    assert "-DAUTOPHI_CUDA=ON" in configure and "AUTOPHI_UNITY" not in configure


def test_installs_what_building_needs_and_no_more(job_repo):
    job_repo.stand_in("dpkg-query", 'printf "%s\\n" "${@:3}"', logged=True)
    job_repo.run("quickstart")
    (query,) = job_repo.calls_of("dpkg-query")
    assert " g++ " in query and "libgtest-dev" not in query and "python3-dev" not in query


def test_only_root_allows_root(job_repo):
    job_repo.stand_in("id", "echo 1000", logged=False)
    job_repo.run("quickstart")
    assert "--allow-run-as-root" not in job_repo.calls_of("mpirun")[0]


@pytest.mark.parametrize("text", ["", "mode: train\n", "mesh: {dims: [dp, pp, tp]}\n"])
def test_job_without_a_shape_has_eight_ranks(job_repo, text):
    job_repo.write("examples/gpt_train.yaml", text)
    job_repo.run("quickstart")
    assert "-n 8 " in job_repo.calls_of("mpirun")[0]


def test_arguments_go_to_run(job_repo):
    job_repo.run("quickstart", "--no-setup", "--report=a b.json")
    assert job_repo.calls_of("mpirun")[0].endswith("gpt_train.yaml --report=a b.json")


def test_another_job_is_found_from_the_callers_folder(job_repo, tmp_path):
    (tmp_path / "mine.yaml").write_text("mesh: {shape: [4]}\n")
    result = job_repo.run("quickstart", "mine.yaml", "--v=1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert job_repo.calls_of("mpirun")[0].startswith("mpirun -n 4 ")
    assert job_repo.calls_of("mpirun")[0].endswith(f"{tmp_path}/mine.yaml --v=1")


def test_ranks_are_single_threaded(job_repo):
    job_repo.stand_in("mpirun", 'echo "threads $OMP_NUM_THREADS"')
    assert "threads 1" in job_repo.run("quickstart").stdout


@pytest.mark.parametrize("text, message", [("mesh: {shape: 8}\n", "must be a list"),
                                           ("mesh: {shape: [0]}\n", "positive")])
def test_a_wrong_mesh_stops_before_mpirun(job_repo, text, message):
    job_repo.write("examples/gpt_train.yaml", text)
    result = job_repo.run("quickstart")
    assert result.returncode != 0
    assert message in result.stderr
    assert job_repo.calls_of("mpirun") == []


def test_a_missing_job_stops_before_the_build(job_repo):
    result = job_repo.run("quickstart", "nowhere.yaml")
    assert result.returncode != 0
    assert "no such job" in result.stderr
    assert job_repo.calls == []


def test_a_failing_run_fails(job_repo):
    job_repo.stand_in("mpirun", "exit 3")
    assert job_repo.run("quickstart").returncode == 3


def test_a_failing_build_runs_nothing(job_repo):
    job_repo.stand_in("cmake", 'case "$1" in --build) exit 1 ;; --version) echo "x y 3.25" ;; esac')
    assert job_repo.run("quickstart").returncode != 0
    assert job_repo.calls_of("mpirun") == []
