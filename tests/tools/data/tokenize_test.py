"""autophi data tokenize: with a stand-in for the package tokenizers everywhere, with the package itself where it is.

The environment variables AUTOPHI and TOKENIZERS_PYTHON name the command and a Python that has the package; ctest sets
the first. Small tokenizers are trained here, of the kinds that text may be cut for, and of others.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[3]
AUTOPHI = os.environ.get("AUTOPHI", str(SOURCE_DIR / "build/bin/autophi"))
sys.path[:0] = [str(SOURCE_DIR / "tests/api/data"), str(SOURCE_DIR / "tools/data")]
import batches  # pylint: disable=wrong-import-position
import tokenize_files  # pylint: disable=wrong-import-position

SEED = 5
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
NO_REGEX = {**BYTE_LEVEL, "use_regex": False}


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def config(pre_tokenizer=None, normalizer=None, model="BPE", **token):
    """A tokenizer.json without its vocabulary, with one added token."""
    token = {"content": "<|end|>", "lstrip": False, "rstrip": False, "single_word": False, **token}
    return {"model": {"type": model}, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer or BYTE_LEVEL,
            "added_tokens": [token]}


# A package of the name: an id is the code of a character, or that of <|end|>.
STAND_IN = '''
class Encoding:
    def __init__(self, ids):
        self.ids = ids

class Token:
    content = "<|end|>"

class Tokenizer:
    @classmethod
    def from_file(cls, path):
        made = cls()
        made.text = open(path).read()
        if not made.text.startswith("{"):
            raise Exception("expected value at line 1")
        return made
    def to_str(self):
        return self.text
    def no_truncation(self):
        pass
    def no_padding(self):
        pass
    def token_to_id(self, token):
        return 500 if token == "<|end|>" else None
    def get_added_tokens_decoder(self):
        return {500: Token()}
    def get_vocab_size(self):
        return 501
    def encode_batch(self, texts, add_special_tokens=True):
        assert not add_special_tokens
        return [Encoding([ord(c) for c in text]) for text in texts]
'''


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.bin"

    def write(self, name, data):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return self.folder / name

    def run_command(self, *args, variables=None):
        command = [AUTOPHI, "data", "tokenize", *map(str, args)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(variables or {})}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


class Cuts(unittest.TestCase):
    def test_only_known_tokenizers_are_cut(self):
        llama, qwen = tokenize_files.LINE_PATTERNS
        space = {**BYTE_LEVEL, "add_prefix_space": True}
        cases = [
            (config(), True),
            (config(normalizer={"type": "NFC"}), True),
            (config(sequence(split(llama), NO_REGEX)), True),
            (config(sequence(split(qwen), NO_REGEX)), True),
            (config(model="Unigram"), False),
            (config(normalizer={"type": "NFKC"}), False),
            (config(normalizer={"type": "Prepend", "prepend": "_"}), False),
            (config({"type": "Metaspace"}), False),
            (config(space), False),
            (config(NO_REGEX), False),
            (config(sequence(split(llama), space)), False),
            (config(sequence(split(llama), BYTE_LEVEL)), False),
            (config(sequence(split(llama + "|x"), NO_REGEX)), False),
            (config(sequence({**split(llama), "invert": True}, NO_REGEX)), False),
            (config(sequence({**split(llama), "behavior": "Removed"}, NO_REGEX)), False),
            (config(sequence({**split(llama), "pattern": {"String": "\n"}}, NO_REGEX)), False),
            (config(sequence(split(llama))), False),
            (config(content="a\nb"), False),
            (config(lstrip=True), False),
            (config(rstrip=True), False),
            (config(single_word=True), False),
            ({**config(), "pre_tokenizer": None}, False),
        ]
        for given, cuts in cases:
            with self.subTest(given=given):
                self.assertEqual(bool(tokenize_files.cuts_at_lines(given)), cuts)

    def test_a_cut_has_no_white_space_about_it(self):
        cases = [("ab\ncd\nef", 6), ("ab\ncd\n", 3), ("ab\n cd", 0), ("ab \ncd", 0), ("ab\r\ncd", 0), ("a\n\nb", 0),
                 ("a\nb\n\nc\u00a0\nd", 2), ("\nab", 0), ("ab\n", 0), ("", 0), ("a\n\u2003b", 0), ("\u00e4\n\u4e2d", 2)]
        for text, cut in cases:
            self.assertEqual(tokenize_files.last_cut(text), cut, repr(text))

    def test_parts_are_the_text_whatever_the_size_of_blocks(self):
        draw = random.Random(SEED)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text"
            for _ in range(60):
                text = "".join(draw.choice("ab\n\n \u00e4\U0001f600") for _ in range(draw.randrange(60)))
                path.write_text(text, newline="")
                for by_lines in (False, True):
                    parts = list(tokenize_files.parts(path, by_lines, block_bytes=draw.randrange(1, 9)))
                    self.assertEqual("".join(parts), text)
                    self.assertEqual(len(parts) > 1, len(parts) > 1 and by_lines)
                    done = 0
                    for part in parts[:-1]:
                        done += len(part)
                        self.assertEqual(text[done - 1], "\n")
                        self.assertFalse(text[done - 2].isspace() or text[done].isspace(), text[:done])

    def test_long_text_without_cuts_is_one_part(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text"
            path.write_text("a b\r\n" * 1000, newline="")
            self.assertEqual(list(tokenize_files.parts(path, True, 64)), ["a b\r\n" * 1000])


class StandIn(Folder):
    """All but tokenizing itself, which the real package does."""

    def setUp(self):
        super().setUp()
        (self.folder / "package/tokenizers").mkdir(parents=True)
        self.write("package/tokenizers/__init__.py", STAND_IN)
        self.tokenizer = self.write("tokenizer.json", json.dumps(config()))

    def tokenize(self, *args, out=None):
        flags = [f"--tokenizer={self.tokenizer}", f"--out={out or self.out}", f"--python={sys.executable}"]
        return self.run_command(*flags, *args, variables={"PYTHONPATH": str(self.folder / "package")})

    def test_files_follow_each_other(self):
        a, b = self.write("a.txt", "ab\ncd"), self.write("b.txt", "\u00e4\r\n")
        outcome = self.tokenize(a, b)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertEqual(outcome.stdout, f"{self.out}: 8 tokens (uint16) of 2 files; largest id 228, of a vocabulary of 501\n")
        self.assertEqual(batches.read_tokens([self.out], "uint16").ids, [97, 98, 10, 99, 100, 228, 13, 10])
        outcome = self.tokenize("--append_eos=<|end|>", "--dtype=int32", a, b)
        self.assertEqual(batches.read_tokens([self.out], "int32").ids, [97, 98, 10, 99, 100, 500, 228, 13, 10, 500])
        self.assertEqual(sorted(path.name for path in self.folder.glob("out*")), ["out.bin"])

    def test_large_files_are_whole(self):
        draw = random.Random(SEED)
        text = "".join(draw.choice("abc\n\n ") for _ in range(3 * tokenize_files.BLOCK_BYTES))
        self.assertEqual(self.tokenize("--dtype=uint8", self.write("a.txt", text)).returncode, 0)
        self.assertEqual(self.out.read_bytes(), text.encode())

    def test_other_tokenizers_take_files_whole(self):
        self.tokenizer = self.write("tokenizer.json", json.dumps(config(model="Unigram")))
        outcome = self.tokenize(self.write("a.txt", "ab\ncd"))
        self.assertIn("5 tokens (uint16) of 1 file, each tokenized at once; largest id 100", outcome.stdout)

    def test_what_is_wrong_is_said_and_leaves_no_file(self):
        text = self.write("a.txt", "abcd")
        wide = self.write("wide.txt", "ab\U0001f600")
        bad = self.write("bad.txt", b"ab" * tokenize_files.BLOCK_BYTES + b"\xe4\xff")
        other = self.write("other.json", "no")
        dropout = config()
        dropout["model"]["dropout"] = 0.1
        cases = [
            ([wide], f"token 2 of '{wide}' is the id 128512, which uint16 does not hold (0 to 65535); use --dtype=uint32."),
            (["--dtype=int8", "--append_eos=<|end|>", text],
             f"token 4 of '{text}' is the id 500, which int8 does not hold (0 to 127); use --dtype=uint16."),
            ([bad], f"'{bad}' is not UTF-8 at byte {2 * tokenize_files.BLOCK_BYTES}; convert it first."),
            (["--append_eos=<eos>", text], "the tokenizer has no token '<eos>' (--append_eos); it adds <|end|>."),
            ([self.folder / "no.txt"], f"there is no file '{self.folder / 'no.txt'}'."),
            ([self.folder], f"there is no file '{self.folder}'."),
            ([f"--tokenizer={self.folder / 'no.json'}", text], f"there is no tokenizer '{self.folder / 'no.json'}'"),
            ([f"--tokenizer={other}", text], f"'{other}' is no tokenizer.json: expected value at line 1."),
            ([f"--tokenizer={self.write('dropout.json', json.dumps(dropout))}", text], "merges at random (model.dropout)"),
        ]
        for args, message in cases:
            with self.subTest(message=message):
                outcome = self.tokenize(*args)
                self.assertEqual((outcome.returncode, outcome.stdout), (1, ""))
                self.assertTrue(outcome.stderr.startswith("autophi data tokenize: "), outcome.stderr)
                self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
                self.assertIn(message, outcome.stderr)
                self.assertEqual(list(self.folder.glob("out*")), [])

    def test_outputs_that_cannot_be_are_refused(self):
        text = self.write("a.txt", "abcd")
        outcome = self.tokenize(text, out=text)
        self.assertIn(f"'{text}' is both read and written; write to another one (--out).", outcome.stderr)
        self.assertEqual(text.read_text(), "abcd")
        outcome = self.tokenize(text, out="/nonexistent/out.bin")
        self.assertIn("autophi data tokenize: '/nonexistent/out.bin.part': No such file", outcome.stderr)

    def test_an_old_file_stays_until_the_new_one_is_whole(self):
        self.out.write_text("old")
        self.assertEqual(self.tokenize(self.write("wide.txt", "ab\U0001f600")).returncode, 1)
        self.assertEqual(self.out.read_text(), "old")
        self.assertEqual(self.tokenize(self.write("a.txt", "ab")).returncode, 0)
        self.assertEqual(self.out.read_bytes(), b"a\0b\0")

    def test_without_the_package_it_is_said_how_to_have_it(self):
        self.write("package/tokenizers/__init__.py", "raise ImportError('No module named tokenizers')")
        outcome = self.tokenize(self.write("a.txt", "abcd"))
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("has no package 'tokenizers' (No module named tokenizers). Install it (pip install tokenizers), or",
                      outcome.stderr)


def python_with_tokenizers():
    for python in (os.environ.get("TOKENIZERS_PYTHON"), sys.executable, shutil.which("python3")):
        if python and subprocess.run([python, "-c", "import tokenizers"], capture_output=True, check=False).returncode == 0:
            return python
    return None


PYTHON = python_with_tokenizers()
# Trains a small tokenizer, and says what the package makes of files that are given whole.
TRAIN = r"""
import json, sys
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
kind, text, out, pattern = sys.argv[1:]
tokenizer = Tokenizer(models.BPE())
trainer = trainers.BpeTrainer(vocab_size=3000, special_tokens=["<|endoftext|>"], show_progress=False,
                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
if kind == "gpt2":
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
elif kind == "metaspace":
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
else:
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])
# Not from a file, of which it takes each line for itself: then no token has a line feed and what follows it.
tokenizer.train_from_iterator([open(text, newline="", encoding="utf-8").read()], trainer)
tokenizer.enable_truncation(7)
tokenizer.save(out)
"""
ENCODE = r"""
import json, sys
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
texts = [open(path, newline="", encoding="utf-8").read() for path in sys.argv[2:]]
print(json.dumps([tokenizer.encode(text, add_special_tokens=False).ids for text in texts]))
"""


@unittest.skipUnless(PYTHON, "no Python here has the package tokenizers: pip install tokenizers, or TOKENIZERS_PYTHON=PATH")
class Package(Folder):
    PIECES = ["\n", "\n", "\n", "\r\n", " ", "  ", "\t", "ab", "the", "The", "'s", "n't", "12345", ".", "...", "/", "\u00e4", "e\u0301",
              "\u0301", "\u4e2d\u6587", "\u3000", "\x1c", "\x85", "\U0001f600", "<|endoftext|>", "<|end", "!?", "x_y"]

    def python(self, script, *args):
        return subprocess.run([PYTHON, "-c", script, *map(str, args)], capture_output=True, text=True, check=True).stdout

    def texts(self, draw):
        return ["".join(draw.choice(self.PIECES) for _ in range(4000)) for _ in range(6)]

    def compare(self, kind, pattern, cuts):
        draw = random.Random(SEED)
        files = [self.write(f"{i}.txt", text) for i, text in enumerate(self.texts(draw))]
        tokenizer = self.folder / "tokenizer.json"
        self.python(TRAIN, kind, files[0], tokenizer, pattern)
        outcome = self.run_command(f"--tokenizer={tokenizer}", f"--out={self.out}", f"--python={PYTHON}", "--append_eos=<|endoftext|>",
                                   *files)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual("each tokenized at once" in outcome.stdout, not cuts)
        whole = json.loads(self.python(ENCODE, tokenizer, *files))
        self.assertEqual(batches.read_tokens([self.out], "uint16").ids, [id for ids in whole for id in ids + [0]])
        # The same cut as often as can be.
        parts = [self.write(f"{n}_{i}.part", part) for n, file in enumerate(files)
                 for i, part in enumerate(tokenize_files.parts(file, cuts, block_bytes=16))]
        self.assertEqual(len(parts) > 100, cuts)
        pieces = json.loads(self.python(ENCODE, tokenizer, *parts))
        self.assertEqual([id for ids in pieces for id in ids], [id for ids in whole for id in ids])

    def test_ids_are_those_of_whole_files(self):
        llama, qwen = tokenize_files.LINE_PATTERNS
        for kind, pattern, cuts in (("gpt2", "", True), ("split", llama, True), ("split", qwen, True), ("metaspace", "", False)):
            with self.subTest(kind=kind, pattern=pattern):
                self.compare(kind, pattern, cuts)


if __name__ == "__main__":
    unittest.main(verbosity=2)
