"""How differences from PyTorch are judged: one that nobody has written down fails, and so does one that is gone."""

import pytest
from opinfo import differences
from opinfo.differences import Entry, judge


class _Difference:
    def __init__(self, kind, text):
        self.kind, self.text = kind, text


def entry(**fields):
    return Entry(**{"op": "add", "kind": "value", "says": "", "samples": 1, "reason": "rounding", **fields})


def test_what_is_written_down_passes():
    assert judge("add", [_Difference("value", "not close")], [entry(says="close")]) == []


def test_a_new_difference_fails():
    assert judge("add", [_Difference("value", "not close")], []) == ["add: value: not close"]
    assert "refused: no" in judge("add", [_Difference("refused", "no")], [entry()])[0]


def test_a_difference_that_is_gone_fails():
    assert "has 1 samples of 'value' with 'close', there are 0" in judge("add", [], [entry(says="close")])[0]


def test_more_samples_than_written_down_fail():
    found = [_Difference("value", "not close")] * 2
    assert "has 1 samples of 'value' with '', there are 2" in judge("add", found, [entry()])[0]


@pytest.mark.parametrize("text", ["- {op: add, kind: other, samples: 1, reason: r}",
                                  "- {op: add, kind: value, samples: 1, reason: ' '}",
                                  "- {op: add, kind: value, samples: 0, reason: r}",
                                  "- {op: add, kind: value, reason: r}",
                                  "- {op: add, kind: value, samples: 1, reason: r, why: r}"])
def test_an_entry_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "list.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"list\.yaml"):
        differences.load(path)


def test_each_entry_of_the_list_can_be_read():
    assert sum(map(len, differences.load().values())) > 20
