"""tools/setup: installs what is missing, else nothing; says what to do when it cannot."""


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
