"""autophi schedule as a user starts it: the terminal it is on, the file it writes, its exit status.

The environment variable AUTOPHI names the command; ctest sets it.
"""

import os
import pathlib
import pty
import subprocess
import tempfile
import threading
import unittest
import xml.etree.ElementTree

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[3]
AUTOPHI = os.environ.get("AUTOPHI", str(SOURCE_DIR / "build/bin/autophi"))
SMALL = ["--kind=zb_h2", "--stages=4", "--micro_batches=8"]
END_OF_OUTPUT = b"\x04end of output\x04"
SVG = "{http://www.w3.org/2000/svg}"


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    return {**kept, **changes}


def run(*args, **variables):
    return subprocess.run(
        [AUTOPHI, *args], env=environment(**variables), capture_output=True, text=True, timeout=60, check=False
    )


def run_on_terminal(*args, **variables):
    """What the command writes when stdout is a terminal, up to a mark that this process writes after it has ended.

    Reading until the command's side is closed would not do: Linux may tell of the closing (EIO) before it gives
    what was written last, as it looks for bytes first and for the closing after that.
    """
    reading, terminal = pty.openpty()
    text = bytearray()

    def read_until_the_mark():
        while not text.endswith(END_OF_OUTPUT):
            text.extend(os.read(reading, 65536))

    reader = threading.Thread(target=read_until_the_mark, daemon=True)
    reader.start()
    try:
        subprocess.run([AUTOPHI, *args], env=environment(**variables), stdout=terminal, timeout=60, check=True)
        os.write(terminal, END_OF_OUTPUT)
        reader.join(timeout=60)
        assert not reader.is_alive(), f"the terminal kept back what was written to it; it gave {bytes(text)}"
    finally:
        os.close(terminal)
    os.close(reading)
    return text.removesuffix(END_OF_OUTPUT).decode()


def rows_of(text):
    return [line for line in text.splitlines() if line.startswith("stage ")]


class Terminal(unittest.TestCase):
    def test_rows_are_as_wide_as_columns_says(self):
        for columns in (60, 100, 213):
            rows = rows_of(run("schedule", *SMALL, COLUMNS=str(columns)).stdout)
            self.assertEqual([len(row) for row in rows], [columns] * 4)

    def test_without_columns_rows_have_100(self):
        for variables in ({}, {"COLUMNS": ""}, {"COLUMNS": "wide"}, {"COLUMNS": "-5"}):
            rows = rows_of(run("schedule", *SMALL, **variables).stdout)
            self.assertEqual([len(row) for row in rows], [100] * 4)

    def test_colours_are_for_terminals(self):
        self.assertNotIn("\x1b", run("schedule", *SMALL).stdout)
        self.assertIn("\x1b[30;48;5;117mF0", run_on_terminal("schedule", *SMALL))
        self.assertNotIn("\x1b", run_on_terminal("schedule", *SMALL, NO_COLOR="1"))


class Svg(unittest.TestCase):
    def test_is_xml_with_a_rectangle_per_action_in_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.svg"
            outcome = run("schedule", *SMALL, f"--svg={file}")
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            root = xml.etree.ElementTree.parse(file).getroot()
        self.assertEqual(root.findtext(f"{SVG}title"), "zb_h2: 4 stages, 8 micro-batches")
        bars = [bar for bar in root.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
        self.assertEqual(len(bars), 4 * 8 * 3)
        width = float(root.get("width"))
        rows = {}
        for bar in bars:
            x, extent = float(bar.get("x")), float(bar.get("width"))
            self.assertGreater(x, 0)
            self.assertLess(x + extent, width)
            rows.setdefault(bar.get("y"), []).append((x, extent))
        self.assertEqual([len(row) for row in rows.values()], [24] * 4)
        for row in rows.values():
            for (x, extent), (following, _) in zip(row, row[1:]):
                self.assertLessEqual(x + extent, following + 0.02)


class Status(unittest.TestCase):
    def test_the_published_bubble_rate_is_a_line_of_its_own(self):
        times = ["--forward=18.522", "--backward=18.086", "--weight=9.337", "--comm=0.601"]
        for kind, rate in (("1f1b", "0.2431"), ("zb_h1", "0.1585"), ("zb_h2", "0.1083")):
            outcome = run("schedule", f"--kind={kind}", "--stages=8", "--micro_batches=24", *times)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertIn(f"bubble_rate: {rate}", outcome.stdout.splitlines())

    def test_what_is_wrong_has_a_status_and_one_message(self):
        cases = [
            (["schedule", "--kind=1f2b", "--stages=2", "--micro_batches=2"], 2, "did you mean '1f1b'?"),
            (["schedule", *SMALL, "--svg=/nonexistent/a.svg"], 1, "cannot write the picture"),
            (["shedule"], 2, "unknown subcommand 'shedule', did you mean 'schedule'?"),
        ]
        for args, status, message in cases:
            with self.subTest(args=args):
                outcome = run(*args)
                self.assertEqual(outcome.returncode, status, outcome.stderr)
                self.assertIn(message, outcome.stderr)
                self.assertEqual(len(outcome.stderr.splitlines()), 1)
                self.assertEqual(outcome.stdout, "")

    def test_help_is_listed_and_given(self):
        self.assertIn("autophi schedule ...", run("--help").stdout)
        outcome = run("schedule", "--help")
        self.assertEqual(outcome.returncode, 0)
        self.assertIn("--micro_batches", outcome.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
