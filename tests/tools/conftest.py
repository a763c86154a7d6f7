"""A copy of tools/ in an empty repository whose PATH has stand-ins for every heavy program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE_ROOT = Path(__file__).resolve().parents[2]
# All that the scripts may use besides the stand-ins.
COMMON_PROGRAMS = ("bash env dirname basename cat tail head sort grep sed awk mkdir mktemp rm tr wc "
                   "realpath git xargs true").split()


class ScriptRepo:
    """Runs scripts of tools/; `calls` are the command lines that the stand-ins have seen."""

    def __init__(self, folder: Path):
        self.root = folder / "repo"
        self.bin = folder / "bin"
        self.log = folder / "calls"
        self.bin.mkdir()
        self.log.touch()
        shutil.copytree(SOURCE_ROOT / "tools", self.root / "tools")
        for name in COMMON_PROGRAMS:
            (self.bin / name).symlink_to(shutil.which(name))
        self.stand_in("cmake", '[ "$1" != --version ] || echo "cmake version 3.25.1"')
        self.stand_in("g++", "echo 12.2.0")
        self.stand_in("id", "echo 0", logged=False)
        self.stand_in("ctags")
        self.stand_in("nproc", "echo 3", logged=False)
        self.stand_in("ctest")
        self.stand_in("mpirun")
        self.installed("*")
        self.stand_in("apt-get")

    def stand_in(self, name: str, body: str = "", logged: bool = True) -> None:
        log = f'echo "{name} $*" >> "{self.log}"\n' if logged else ""
        file = self.bin / name
        file.write_text(f"#!{self.bin}/bash\n{log}{body}\n")
        file.chmod(0o755)

    def installed(self, *packages: str) -> None:
        """The packages of dpkg-query; "*" is every requested package."""
        if packages == ("*",):
            body = 'for p in "${@:3}"; do printf "%s=installed " "$p"; done'
        else:
            body = "printf '" + "".join(f"{p}=installed " for p in packages) + "'; exit 1"
        self.stand_in("dpkg-query", body, logged=False)

    def run(self, script: str, *args: str, cwd: Path = None,
            **env: str) -> subprocess.CompletedProcess:
        environment = {"PATH": str(self.bin), "AUTOPHI_PYTHON": sys.executable, "AUTOPHI_JOBS": "2",
                       "HOME": os.environ.get("HOME", "/"), **env}
        return subprocess.run([self.bin / "bash", self.root / "tools" / script, *args],
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, cwd=cwd, check=False)

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()

    def calls_of(self, name: str) -> list[str]:
        return [call for call in self.calls if call.split()[0] == name]

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def repo(tmp_path: Path) -> ScriptRepo:
    return ScriptRepo(tmp_path)
