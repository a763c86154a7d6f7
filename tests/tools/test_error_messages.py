"""Every message of an error in the sources is in a test, by words of it and not by its type alone.

The check compares texts: that a test makes the error happen is for the test to do. A message is
asserted where some text in a test has two or three of its words that follow each other, of nine letters
together; where the message has `{}` between words, the test may have what stands for it.
"""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CODES = ("InvalidArgument|NotFound|OutOfRange|AlreadyExists|ResourceExhausted|PreconditionNotMet|PermissionDenied|"
         "ExecutionTimeout|Unimplemented|Unavailable|External")
LITERALS = r'((?:"(?:[^"\\\n]|\\.)*"\s*)+)'
MESSAGE = re.compile(rf"(?:errors::(?:{CODES})|UsageError)\s*\(\s*(?:fmt::format\(\s*)?{LITERALS}")
MIN_LETTERS = 9
REACH = 7

# Messages that no test can make appear, or not in words of their own, and why.
NO_WORDS = "nothing but what is filled in"
ROOT_MAY = "tests run as root, whom no file refuses"
UNTESTED = {
    "{}": NO_WORDS,
    "{}: {}": NO_WORDS,
    "{}:{}: {}": NO_WORDS,
    "--mesh: {}": NO_WORDS,
    "{}:{}: key '{}': {}": NO_WORDS,
    "{}:{}: {} must be a map of {}, got {}.": "config_test.cc: must be a map of kind, vocab",
    "'{}': {} is not {}.": "index_test.cc: the index is not a JSON object",
    "'{}': {} has no '{}'.": "index_test.cc: metadata has no 'save'",
    "'{}' cannot be renamed: {}.": "crash_test.cc: every file call fails once, and the save with it",
    "'{}' cannot be renamed to '{}': {}.": "the system's: a folder that takes files and no other name for one",
    "cannot determine the free space of '{}': {}.": "the system's: statvfs of a folder that was just written to",
    "'{}' was not saved by Autophi and is not replaced; choose another folder, or move the file away.":
        "checkpoint_test.cc and python_test.py: AlreadyExists, and the file is as it was",
    "signals cannot be handled on an alternate stack: {}.": "the system's: it takes any stack of 64 KiB",
    "'{}' is not one of {}{}": "ckpt_command_test.cc: ls, cat, diff, verify, merge, import",
    "'{}' cannot be {}: {}.": "checkpoint_test.cc: cannot be written: File too large",
    "q is {}, k is {}, v is {}: {}.": "attention_test.cc: q is f32[2,5,8], k is f32[2,5,6,8]",
    "{} is {} and x is {}: {} must be {} or {}; cast it.":
        "normalisation_test.cc: scale must be bfloat16 or float32",
    "--{} requires {}.": "command_line_test.cc: --number requires --loud",
    "'": "the beginning of what is put together: tool_test.cc, is no number",
    "--attr '": "the beginning of what is put together: tool_test.cc, is not of the form name=value",
    "{}:{}: case is no int.": "tool_test.cc: case is no int",
    "'{}' may not be read: {}.": ROOT_MAY,
    "'{}' may not be opened: {}; pass another path.": ROOT_MAY,
    "cannot make a pipe: {}.": "the system's: a process without file descriptors",
    "{} failed at rank {}: {}": "a failure of MPI itself, which no test can cause",
}


def literals(text: str, pattern: re.Pattern) -> list[tuple[int, str]]:
    """(line, text) of what `pattern` finds, adjacent C++ literals joined."""
    return [(text[:match.start()].count("\n") + 1, "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[1])))
            for match in pattern.finditer(text)]


def tokens(text: str) -> list[str]:
    """Words, without what the code fills in."""
    text = re.sub(r"\{[^{}]*\}", " ", text.replace("\\n", " ").replace('\\"', " "))
    return re.findall(r"[^\W_](?:[\w.']*\w)?", text)


def runs(words: list[str], reach: int) -> set[tuple[str, ...]]:
    """Two or three words in order, within `reach` of the first, that are long enough."""
    found = set()
    for i in range(len(words)):
        for j in range(i + 1, min(i + reach, len(words))):
            found.add((words[i], words[j]))
            found |= {(words[i], words[j], words[k]) for k in range(j + 1, min(i + reach, len(words)))}
    return {run for run in found if len("".join(run)) >= MIN_LETTERS}


def adjacent(words: list[str]) -> set[tuple[str, ...]]:
    found = {tuple(words[i:i + n]) for n in (2, 3) for i in range(len(words) - n + 1)}
    return {run for run in found if len("".join(run)) >= MIN_LETTERS}


def said_in_tests() -> set[tuple[str, ...]]:
    found = set()
    # Options of jobs are the messages that Python alone can meet.
    for path in (*ROOT.glob("tests/**/*"), ROOT / "python/tests/test_jobs.py"):
        if path.suffix not in (".cc", ".h", ".py") or path == Path(__file__).resolve():
            continue
        text = path.read_text(encoding="utf-8")
        for _, said in literals(text, re.compile(LITERALS)):
            found |= runs(tokens(said), REACH)
    for record in ROOT.glob("tests/ops/*/*.yaml"):
        for refusal in yaml.load(record.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("refusals", []):
            found |= runs(tokens(refusal["says"]), REACH)
    return found


def messages() -> dict[str, str]:
    """The position of each message."""
    found = {}
    for folder in ("phi", "distributed", "tools"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cc", ".h"):
                code = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
                for line, message in literals(code, MESSAGE):
                    found.setdefault(message, f"{path.relative_to(ROOT)}:{line}")
    return found


def test_each_message_is_in_a_test():
    said = said_in_tests()
    missing = {message: where for message, where in messages().items() if not said & adjacent(tokens(message))}
    new = [f"{where}: {message}" for message, where in missing.items() if message not in UNTESTED]
    assert not new, "assert words of these in a test of their file:\n" + "\n".join(new)
    stale = [message for message in UNTESTED if message not in missing]
    assert not stale, f"take out of UNTESTED what is tested or gone: {stale}"
    assert all(UNTESTED.values())
