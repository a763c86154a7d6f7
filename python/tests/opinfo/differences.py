"""differences.yaml: where we and PyTorch differ, why, and in how many samples."""

import dataclasses
from pathlib import Path

import yaml

_KINDS = ("refused", "value", "gradient", "no gradient")


@dataclasses.dataclass
class Entry:
    """One difference of one operator that is known."""
    op: str
    kind: str
    says: str  # part of the text
    samples: int
    reason: str
    seen: int = 0

    def takes(self, difference):
        return difference.kind == self.kind and self.says in difference.text


def load(path=Path(__file__).with_name("differences.yaml")):
    """The entries by operator. Raises ValueError for an entry that is none."""
    by_op = {}
    for fields in yaml.safe_load(path.read_text(encoding="utf-8")) or []:
        try:
            entry = Entry(**{"says": "", **fields})
        except TypeError as error:
            raise ValueError(f"{path.name}: {fields}: {error}") from None
        if entry.kind not in _KINDS or not entry.reason.strip() or entry.samples < 1:
            raise ValueError(f"{path.name}: {fields}: kind is one of {', '.join(_KINDS)}, reason is a sentence, "
                             "samples a count")
        by_op.setdefault(entry.op, []).append(entry)
    return by_op


def judge(op, differences, entries):
    """What is wrong: differences that no entry has, and entries that no longer are what they say."""
    wrong = []
    for difference in differences:
        for entry in entries:
            if entry.takes(difference):
                entry.seen += 1
                break
        else:
            wrong.append(f"{op}: {difference.kind}: {difference.text}")
    wrong += [f"{op}: differences.yaml has {entry.samples} samples of '{entry.kind}' with '{entry.says}', there are "
              f"{entry.seen}" for entry in entries if entry.seen != entry.samples]
    return wrong
