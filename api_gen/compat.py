"""Other names of operators and their arguments, in the format of Paddle's op_compat file.

    - op : all (reduce_all)
      backward : all_grad (reduce_all_grad)
      inputs : {x : X}
      attrs : {axis : dim, keepdim : keep_dim}
      outputs : {out : Out}

Other keys of such a file describe programs of an earlier framework, which is not supported here;
they are ignored.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from api_gen.document import Entry, Value, read_entries
from api_gen.errors import SpecError, SpecErrors, gather

# A name in another project, which need not be an identifier: F1-Score.
_OTHER = r"[^\s()\[\]{},:\"'\\]+"
_NAME = re.compile(rf"\s*(\w+)\s*(?:\(\s*({_OTHER})\s*\))?\s*\Z")
_KEYS = ("op", "backward", "inputs", "attrs", "outputs")


@dataclass(frozen=True, order=True)
class CompatName:
    """`argument`: a tensor, an attribute or an output; empty: the operator itself."""

    op: str
    argument: str
    other: str


def parse_compat(files: Iterable[tuple[str, str]]) -> list[CompatName]:
    """Parses (name, text) of each file to foreign names, sorted. Errors: SpecErrors."""
    found: set[CompatName] = set()
    errors: list[SpecError] = []
    for file, text in files:
        entries: list[Entry] = []
        gather(lambda: entries.extend(
            read_entries(text, file, "op", errors, may_repeat=lambda key: key not in _KEYS)), errors)
        for entry in entries:
            errors += entry.faults
            found |= set(_names(entry, errors))
    if errors:
        raise SpecErrors(errors)
    return sorted(name for name in found if name.other != (name.argument or name.op))


def of_ops(names: Sequence[CompatName], ops: Iterable[str]) -> list[CompatName]:
    """The names of these operators, except names that one of them already has."""
    there = set(ops)
    return [name for name in names if name.op in there and (name.argument or name.other not in there)]


def _names(entry: Entry, errors: list[SpecError]) -> list[CompatName]:
    found: list[CompatName] = []
    own = entry.at.op.partition("(")[0].strip()

    def pair(key: str, text: str) -> None:
        name, other = _pair(entry, key, text)
        if other:
            found.append(CompatName(name, "", other))

    gather(lambda: pair("op", entry.at.op), errors)
    gather(lambda: [pair("backward", text) for text in
                    filter(None, map(str.strip, _text(entry, "backward").split(",")))], errors)
    for key in ("inputs", "attrs", "outputs"):
        gather(partial(_map, entry, key,
                       lambda ours, theirs: found.append(CompatName(own, ours, theirs))), errors)
    return found


def _pair(entry: Entry, key: str, text: str) -> tuple[str, str]:
    match = _NAME.match(text)
    if not match:
        raise entry.error(key, f"'{text}' is not a name", "'name' or 'name (other_name)' is accepted")
    return match[1], match[2] or ""


def _text(entry: Entry, key: str) -> str:
    value = entry.values.get(key)
    if value is None or value.text == "":
        return ""
    if value.text is None:
        raise entry.error(key, "the value is not text", "'name (other_name), ..' is accepted")
    return value.text


def _map(entry: Entry, key: str, takes: Callable[[str, str], None]) -> None:
    value = entry.values.get(key)
    if value is None or value.text == "":
        return
    if value.map is None:
        raise entry.error(key, "the value is not a map", "'{name : other_name, ..}' is accepted")
    for ours, theirs in value.map:
        for other in theirs.items if theirs.items is not None else [theirs]:
            takes(ours, _word(entry, key, ours, other))


def _word(entry: Entry, key: str, ours: str, value: Value) -> str:
    if value.text is None or not re.fullmatch(_OTHER, value.text):
        raise entry.error(key, f"the other name of '{ours}' is not a name",
                          "'name : other_name' is accepted")
    return value.text
