"""autophi data as a user starts it: the output of info and windows, and their errors for wrong arguments and files.

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
sys.path.insert(0, str(SOURCE_DIR / "tests/api/data"))
import batches  # pylint: disable=wrong-import-position


def run(*args):
    command = [AUTOPHI, "data", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.flat = self.folder / "flat.bin"
        batches.write_tokens(self.flat, [7, 1000, 3, 9], "uint16")
        self.set = self.folder / "set"
        batches.write_megatron(self.set, [[[5, 6], [7]], [], [[300]]], "int32")

    def rows(self, *args):
        outcome = run("info", *args)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return dict(line.split(maxsplit=1) if "  id" not in line else line.rsplit("  ", 1)
                    for line in outcome.stdout.replace("est id  ", "est_id  ").splitlines())

    def test_info_says_what_is_in_files(self):
        rows = self.rows(self.flat)
        self.assertEqual(rows["kind"], "tokens (uint16)")
        self.assertEqual(rows["files"], "1, 8 bytes")
        self.assertEqual(rows["tokens"], "4")
        self.assertEqual(rows["documents"], "not said")
        self.assertEqual(rows["smallest_id"], f"3: token 2 of '{self.flat}' (byte offset 4)")
        self.assertEqual(rows["largest_id"], f"1000: token 1 of '{self.flat}' (byte offset 2)")
        self.assertRegex(rows["fingerprint"], "^[0-9a-f]{16}$")

    def test_info_guesses_the_kind(self):
        for name in ("set", "set.bin", "set.idx"):
            rows = self.rows(self.folder / name)
            self.assertEqual((rows["kind"], rows["tokens"], rows["documents"]), ("megatron (int32)", "4", "3"))
        text = self.folder / "notes.txt"
        text.write_text("abc")
        rows = self.rows(text)
        self.assertEqual((rows["kind"], rows["tokens"], rows["documents"]), ("bytes (uint8)", "3", "1"))
        rows = self.rows("--kind=tokens", "--dtype=uint32", self.flat)
        self.assertEqual((rows["kind"], rows["tokens"]), ("tokens (uint32)", "2"))

    def test_windows_are_shown(self):
        outcome = run("windows", "--seq_len=3", "--samples=2", self.flat)
        self.assertEqual(outcome.stdout, "4 tokens (uint16) of 1 file\nsample 0 from token 0: 7 1000 3 9\n"
                         "sample 1 from token 0: 7 1000 3 9\n")

    def test_what_is_wrong_is_said(self):
        cases = [
            ([], 2, "the action is missing; use tokenize, info or windows; see --help."),
            (["tokenise"], 2, "autophi data has no 'tokenise', did you mean 'tokenize'?"),
            (["frobnicate"], 2, "autophi data has no 'frobnicate'; see autophi data --help."),
            (["info"], 2, "autophi data info expects files, got none; see --help."),
            (["info", "--seq_len=2", self.flat], 2, "unknown flag --seq_len"),
            (["info", "--dtype=uint16", self.set], 2, "--dtype requires --kind=tokens."),
            (["info", "--kind=text", self.flat], 1, "'text' is not a kind of data; use bytes, tokens, megatron or images."),
            (["info", "--kind=images", self.flat], 1, "data of kind images has no token ids"),
            (["info", "--dtype=uint64", self.flat], 1, "'uint64' is not a dtype of token ids; use one of uint8, int8"),
            (["info", "nowhere.bin"], 1, "no file or folder 'nowhere.bin' in '"),
            (["windows", self.flat], 2, "--seq_len is missing; pass --seq_len=N, 1 or more."),
            (["windows", "--seq_len=2", "--samples=-1", self.flat], 2, "--seed, --first_sample and --samples must be 0 or"),
            (["windows", "--seq_len=4", self.flat], 1, "4 tokens are too few for windows of seq_len 4 + 1."),
            (["windows", "--seq_len=2", "--documents=apart", self.flat], 1, "documents cannot be separated in data of"),
            (["windows", "--seq_len=2", "--documents=two", self.flat], 1, "documents cannot be 'two'; use joined or"),
            (["tokenize", "x"], 2, "--tokenizer is missing; pass --tokenizer=tokenizer.json."),
            (["tokenize", "--tokenizer=t.json", "x"], 2, "--out is missing; pass --out=train.bin."),
            (["tokenize", "--tokenizer=t.json", "--out=o"], 2, "autophi data tokenize expects text files, got none."),
            (["tokenize", "--tokenizer=t.json", "--out=o", "--dtype=float", "x"], 1, "'float' is not a dtype of token ids"),
            (["tokenize", "--tokenizer=t.json", "--out=o", "--python=/no/python3", "x"], 1,
             "and '/no/python3' cannot be started: No such file or directory. Install Python 3 and the package"),
        ]
        for args, status, message in cases:
            with self.subTest(args=args):
                outcome = run(*args)
                self.assertEqual((outcome.returncode, outcome.stdout), (status, ""), outcome.stderr)
                self.assertIn(message, outcome.stderr)
                self.assertTrue(outcome.stderr.startswith("autophi data"), outcome.stderr)

    def test_help_is_printed(self):
        for args in (["--help"], ["tokenize", "-h"]):
            outcome = run(*args)
            self.assertEqual(outcome.returncode, 0)
            self.assertIn("autophi data tokenize --tokenizer=tokenizer.json", outcome.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
