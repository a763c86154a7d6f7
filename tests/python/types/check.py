"""mypy over the package's stubs and sources, the examples, calls.py, and a user's program: those but the examples with
--strict.

    python3 check.py --package=FOLDER_OF_AUTOPHI --environment=DIR --cache=DIR --strict=FILE.. FILE_OR_FOLDER...

The environment is made from PyPI where it is missing; without network the test is skipped, and says so.
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def make(environment):
    """None, or why there is no environment with the checker."""
    done = environment / "complete"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return None
    try:
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run([environment / "bin" / "python", "-m", "pip", "install", "-q", "--retries=1", "--timeout=15",
                        "--disable-pip-version-check", "-r", HERE / "requirements.txt"], check=True, capture_output=True,
                       text=True)
    except (subprocess.CalledProcessError, OSError) as error:
        return (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
    done.write_text(wanted, encoding="utf-8")
    return None


def copied(package, folder):
    """The package without its extension modules and without links, which mypy takes for other files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return folder


def main():
    parser = argparse.ArgumentParser()
    for name in ("package", "environment", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--strict", action="append", default=[])
    parser.add_argument("checked", nargs="+")
    args = parser.parse_args()
    why = make(args.environment)
    if why:
        print(f"SKIPPED: there is no mypy in {args.environment}, and PyPI gives none: {why}")
        return 0
    args.cache.mkdir(parents=True, exist_ok=True)
    path = copied(args.package, args.cache / "package")
    mypy = [args.environment / "bin" / "mypy", f"--cache-dir={args.cache / 'mypy'}", "--no-error-summary"]
    status = 0
    for words in (["--strict", path / args.package.name, *args.strict],
                  ["--check-untyped-defs", "--warn-unused-ignores", *args.checked]):
        done = subprocess.run([*mypy, *words], env={"MYPYPATH": str(path), "PATH": "/usr/bin:/bin"}, check=False)
        status = status or done.returncode
    if status == 0:
        print(f"mypy: {len(list(path.rglob('*.pyi')))} stubs and {len(list(path.rglob('*.py')))} sources of the package, "
              f"{len(args.strict) + len(args.checked)} more: no errors")
    return status


if __name__ == "__main__":
    sys.exit(main())
