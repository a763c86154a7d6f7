"""The command line of autophi view, with stand-ins for the package and for Python.

The environment variable AUTOPHI names the command; ctest sets it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[3]
AUTOPHI = os.environ.get("AUTOPHI", str(SOURCE_DIR / "build/bin/autophi"))


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_view(self, *words, status, **environment):
        outcome = subprocess.run([AUTOPHI, "view", *words], capture_output=True, text=True, timeout=60, check=False,
                                 env={**os.environ, "PYTHONPATH": str(self.folder), **environment})
        self.assertEqual(outcome.returncode, status, outcome.stderr)
        return outcome.stdout + outcome.stderr

    def test_the_package_gets_the_files(self):
        package = self.folder / "autophi" / "viewing"
        package.mkdir(parents=True)
        (self.folder / "autophi" / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text("def main(words):\n    print(words)\n    return 7\n")
        out = self.run_view("r.json", "--out=page.html", f"--python={sys.executable}", "-", "--", "--p.json", status=7)
        self.assertEqual(out, "['--out=page.html', '--', 'r.json', '-', '--p.json']\n")

    def test_a_python_without_the_package(self):
        # -S and -E cannot be passed: an interpreter without site packages stands for one without the package.
        python = self.folder / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
        python.chmod(0o755)
        out = self.run_view("r.json", "--out=page.html", f"--python={python}", status=1)
        self.assertIn("has no package autophi. Install it (pip install 'autophi[view]')", out)

    def test_wrong_command_lines(self):
        for words, said in ((["--out=p.html"], "expects reports, metrics, traces, predictions or plans, got no file"),
                            (["r.json"], "--out is missing; pass --out=page.html."),
                            (["r.json", "--oot=p.html"], "unknown flag --oot, did you mean 'out'?")):
            with self.subTest(words=words):
                self.assertIn(said, self.run_view(*words, status=2))

    def test_a_python_that_is_not_there(self):
        out = self.run_view("r.json", "--out=page.html", "--python=/none/python", status=1)
        self.assertIn("drawn by Python's package autophi, and '/none/python' cannot be started: No such file", out)
        self.assertIn("pip install 'autophi[view]'", out)


if __name__ == "__main__":
    unittest.main()
