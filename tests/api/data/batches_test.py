"""What the library draws is what batches.py draws, which is written from docs/data.md; and so is the page's example.

The environment variable AUTOPHI names the command; ctest sets it.
"""

import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

import batches

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[3]
AUTOPHI = os.environ.get("AUTOPHI", str(SOURCE_DIR / "build/bin/autophi"))
SEED = 77


def drawn(paths, **flags):
    """{sample: (begin, ids)} as the command shows them."""
    words = [f"--{name}={value}" for name, value in flags.items()]
    command = [AUTOPHI, "data", "windows", *words, *map(str, paths)]
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    lines = re.findall(r"^sample (\d+) from token (\d+):((?: \d+)+)$", output, re.MULTILINE)
    return {int(number): (int(begin), [int(id) for id in ids.split()]) for number, begin, ids in lines}


class Batches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(SEED)

    def compare(self, row, paths, documents="joined", **flags):
        for seq_len, seed, first in ((1, 0, 0), (5, 1, 0), (9, 12345678901, 70), (5, 2**63 - 1, 2**40)):
            with self.subTest(seq_len=seq_len, seed=seed, first=first, documents=documents, **flags):
                given = drawn(paths, documents=documents, seq_len=seq_len, seed=seed, first_sample=first, samples=40, **flags)
                wanted = {n: batches.window(row, seq_len, documents, seed, n) for n in range(first, first + 40)}
                self.assertEqual(given, wanted)

    def ids(self, count, limit=256):
        return [self.random.randrange(limit) for _ in range(count)]

    def test_windows_of_text(self):
        paths = [self.folder / name for name in ("a", "b", "c", "d")]
        for path, size in zip(paths, (40, 3, 11, 7)):
            path.write_bytes(bytes(self.ids(size)))
        row = batches.read_bytes(paths)
        for documents in ("joined", "apart"):
            self.compare(row, paths, documents, kind="bytes")

    def test_windows_of_flat_files(self):
        for dtype in batches.FORMATS:
            limit = {"uint8": 2**8, "int8": 2**7, "uint16": 2**16, "int16": 2**15}.get(dtype, 2**31)
            paths = [self.folder / f"{dtype}_{i}.bin" for i in range(2)]
            for path, count in zip(paths, (10, 300)):
                batches.write_tokens(path, self.ids(count, limit), dtype)
            self.compare(batches.read_tokens(paths, dtype), paths, kind="tokens", dtype=dtype)

    def test_windows_of_megatron_sets(self):
        for dtype in batches.MEGATRON_CODES.values():
            prefixes = [self.folder / f"{dtype}_{i}" for i in range(2)]
            for prefix, count in zip(prefixes, (700, 20)):
                documents = [[self.ids(self.random.randrange(8), 128) for _ in range(self.random.randrange(4))]
                             for _ in range(count)]
                batches.write_megatron(prefix, documents, dtype)
            row = batches.read_megatron(prefixes)
            self.assertEqual(len(row.documents), 720)
            for documents in ("joined", "apart"):
                self.compare(row, prefixes, documents)

    def test_the_example_of_the_page_is_right(self):
        page = (SOURCE_DIR / "docs/data.md").read_text()
        shown = re.search(r"```\n(sample  random.*?)```", page, re.DOTALL)[1]
        documents = [[list(range(0, 5))], [list(range(5, 8))], [list(range(8, 16))], [list(range(16, 20))]]
        batches.write_megatron(self.folder / "set", documents, "uint16")
        row = batches.read_megatron([self.folder / "set"])
        self.assertEqual((len(row.ids), row.documents), (20, [5, 3, 8, 4]))
        self.assertEqual(batches.begins(row, 4, "apart"), [0, 8, 9, 10, 11])
        lines = [f"{'sample':>6}  {'random':<16}  {'joined':>6}  {'ids':<16}  {'apart':>5}  ids"]
        for sample in range(4):
            line = f"{sample:>6}  {batches.random_of(1, sample):016x}"
            for documents, width in (("joined", 6), ("apart", 5)):
                begin, ids = drawn([self.folder / "set"], documents=documents, seq_len=4, seed=1)[sample]
                self.assertEqual((begin, ids), batches.window(row, 4, documents, 1, sample))
                line += f"  {begin:>{width}}  {' '.join(map(str, ids)):<16}"
            lines.append(line.rstrip())
        self.assertEqual(shown.splitlines(), lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
