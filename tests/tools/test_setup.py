"""tools/setup: installs only what is missing; prints the remedy when it cannot."""

import pytest


def test_all_installed_needs_no_apt(repo):
    result = repo.run("setup")
    assert result.returncode == 0, result.stderr
    assert "packages are installed" in result.stdout
    assert repo.calls_of("apt-get") == []


def test_installs_only_what_is_missing(repo):
    repo.installed("g++", "cmake", "libfmt-dev")
    result = repo.run("setup")
    assert result.returncode == 0, result.stderr
    update, install = repo.calls_of("apt-get")
    assert update.endswith(" update")
    words = install.split()
    assert {"install", "-y", "ninja-build", "libyaml-cpp-dev", "python3-jinja2"} <= set(words)
    assert not {"g++", "cmake", "libfmt-dev"} & set(words)


def test_removed_package_counts_as_missing(repo):
    """dpkg remembers a removed package under another status."""
    repo.stand_in("dpkg-query", 'for p in "${@:3}"; do s=installed; '
                  '[ "$p" != mold ] || s=config-files; printf "%s=$s " "$p"; done', logged=False)
    assert repo.run("setup").returncode == 0
    assert repo.calls_of("apt-get")[1].split()[-1] == "mold"


def test_failing_install_shows_the_end_of_the_log(repo):
    repo.installed("g++")
    repo.stand_in("apt-get", 'echo "E: no such mirror"; exit 100')
    result = repo.run("setup")
    assert result.returncode != 0
    assert "E: no such mirror" in result.stderr
    assert "apt-get install failed" in result.stderr


def test_failing_update_alone_is_only_told(repo):
    repo.installed("g++")
    repo.stand_in("apt-get", 'case "$*" in *update) exit 100 ;; esac')
    result = repo.run("setup")
    assert result.returncode == 0, result.stderr
    assert "apt-get update failed" in result.stdout


def test_user_without_sudo_gets_the_command(repo):
    repo.installed("g++")
    repo.stand_in("id", "echo 1000", logged=False)
    result = repo.run("setup")
    assert result.returncode != 0
    assert "not root and no sudo" in result.stderr
    assert repo.calls_of("apt-get") == []


def test_user_with_sudo_is_not_asked_for_a_password_without_terminal(repo):
    repo.installed("g++")
    repo.stand_in("id", "echo 1000", logged=False)
    repo.stand_in("sudo", 'shift; exec "$@"')
    assert repo.run("setup").returncode == 0
    assert all(call.startswith("sudo -n env ") for call in repo.calls_of("sudo"))
    assert len(repo.calls_of("apt-get")) == 2


def test_other_systems_are_told_what_they_need(repo):
    (repo.bin / "dpkg-query").unlink()
    result = repo.run("setup")
    assert result.returncode != 0
    assert "no Debian-like system" in result.stderr
    assert "libdnnl-dev" in result.stderr


def test_old_cmake_is_named(repo):
    repo.stand_in("cmake", 'echo "cmake version 3.9.2"')
    result = repo.run("setup")
    assert result.returncode != 0
    assert "cmake is version 3.9.2" in result.stderr and "3.25" in result.stderr


def test_help_is_the_opening_comment(repo):
    result = repo.run("setup", "--help")
    assert result.returncode == 0
    assert "Usage: tools/setup" in result.stdout
    assert "set -euo" not in result.stdout


def test_no_cuda_without_the_option(repo):
    assert repo.run("setup").returncode == 0
    assert not [call for call in repo.calls if "find_cuda" in call]


@pytest.fixture
def wheels(repo, tmp_path):
    """No toolkit here, and a Python whose pip installs one; the folder of it."""
    home = tmp_path / "home"
    where = home / ".cache/autophi/cuda/nvidia/cu13"
    repo.stand_in("cmake", f'''if [ "$1" = --version ]; then echo "cmake version 3.25.1"; exit; fi
echo "-- least 13.0"
[ ! -e "{where}/lib64/libcudart.so" ] || echo "-- found 13.0, {where}/bin/nvcc"''')
    repo.stand_in("nvcc", '[ -z "$FAULTY" ] || { echo "nvcc fatal"; exit 1; }')
    repo.stand_in("python", f'''case "$*" in
*venv*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
*pip*) [ -z "$OFFLINE" ] || {{ echo "no index"; exit 1; }}
  for word; do case "$word" in --target=*) to="${{word#*=}}" ;; esac; done
  mkdir -p "$to"/nvidia/cu13/bin "$to"/nvidia/cu13/lib "$to"/nvidia/cu13/include
  : >"$to/nvidia/cu13/lib/libcudart.so.13"; cp "{repo.bin}/nvcc" "$to/nvidia/cu13/bin/nvcc" ;;
esac''')
    for program in ("ln", "mv", "cp"):
        (repo.bin / program).symlink_to(f"/bin/{program}")
    repo.home = {"HOME": str(home), "AUTOPHI_PYTHON": str(repo.bin / "python")}
    return where


def test_cuda_comes_from_wheels_of_one_release(repo, wheels):
    result = repo.run("setup", "--cuda", **repo.home)
    assert result.returncode == 0, result.stderr
    pip = next(call for call in repo.calls_of("python") if "pip install" in call).split()
    names = [word for word in pip if word.startswith("nvidia-")]
    assert "nvidia-cuda-nvcc==13.0.*" in names and "nvidia-nccl-cu13" in names
    assert all(name.endswith("==13.0.*") for name in names if "nccl" not in name)
    assert (wheels / "bin/nvcc").exists() and (wheels / "lib/libcudart.so").exists()
    assert not (wheels.parents[1] / "venv").exists()


def test_installed_cuda_is_left_alone(repo, wheels):
    repo.stand_in("cmake", '[ "$1" != --version ] || { echo "cmake version 3.25.1"; exit; }; echo "-- found 13.1, /x/nvcc"')
    result = repo.run("setup", "--cuda", **repo.home)
    assert result.returncode == 0 and "a CUDA toolkit is installed: 13.1, /x/nvcc" in result.stdout
    assert not wheels.exists()


def test_wheels_that_cannot_be_had_are_told(repo, wheels):
    result = repo.run("setup", "--cuda", OFFLINE="1", **repo.home)
    assert result.returncode != 0 and "no index" in result.stderr
    assert "CUDA 13.0 could not be installed from PyPI" in result.stderr and not wheels.exists()


def test_wheels_that_compile_nothing_are_told(repo, wheels):
    result = repo.run("setup", "--cuda", FAULTY="1", **repo.home)
    assert result.returncode != 0 and "nvcc fatal" in result.stderr
    assert "are not enough to build" in result.stderr and not wheels.exists()


def test_a_cuda_that_hides_the_wheels_is_told(repo, wheels):
    repo.stand_in("cmake", '[ "$1" != --version ] || { echo "cmake version 3.25.1"; exit; }; echo "-- least 13.0"')
    result = repo.run("setup", "--cuda", **repo.home)
    assert result.returncode != 0
    assert f"-DAUTOPHI_NVCC={wheels}/bin/nvcc" in result.stderr
