"""Parses YAML text to entries whose values have line numbers, without interpreting keys."""

from collections.abc import Callable
from dataclasses import dataclass

import yaml

from api_gen.errors import Location, SpecError


@dataclass(frozen=True)
class Value:
    """A value: text, list of values or map, with its line number."""

    line: int
    text: str | None = None
    quoted: bool = False
    items: tuple["Value", ...] | None = None
    map: tuple[tuple[str, "Value"], ...] | None = None


@dataclass(frozen=True)
class Entry:
    at: Location
    values: dict[str, Value]
    faults: tuple[SpecError, ...] = ()  # keys that are given twice; `values` has the first

    def error(self, key: str, wrong: str, accepted: str) -> SpecError:
        return SpecError(self.at, key, wrong, accepted)


def read_entries(text: str, file: str, id_key: str, faults: list[SpecError],
                 may_repeat: Callable[[str], bool] = lambda key: False) -> list[Entry]:
    """The entries of a file; `faults` gets those that are none: no maps, no `id_key`. `may_repeat`: keys of
    entries that nothing reads, which may be given twice. Errors: not YAML, not a list."""
    top = Location(file, 1)
    try:
        root = _compose(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "unreadable"
        raise SpecError(Location(file, line), "file", f"not YAML: {problem}",
                        "a list of maps is accepted") from None
    except RecursionError:
        raise _too_deep(top) from None
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise SpecError(top, "file", "the file is not a list",
                        f"a list of maps, `- {id_key}: name ...`, is accepted")
    entries = []
    for node in root.value:
        try:
            entries.append(_entry(node, file, id_key, may_repeat))
        except RecursionError:
            faults.append(_too_deep(Location(file, node.start_mark.line + 1)))
        except SpecError as error:
            faults.append(error)
    return entries


def _compose(text: str) -> yaml.Node | None:
    """Uses libyaml where PyYAML has it, which is faster; errors come from PyYAML's own parser."""
    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return yaml.compose(text, Loader=yaml.SafeLoader)


def _too_deep(at: Location) -> SpecError:
    return SpecError(at, "file", "lists and maps in one another are too deep", "a list of maps is accepted")


def _entry(node: yaml.Node, file: str, id_key: str, may_repeat: Callable[[str], bool]) -> Entry:
    line = node.start_mark.line + 1
    at = Location(file, line)
    if not isinstance(node, yaml.MappingNode):
        raise SpecError(at, id_key, "the entry is not a map",
                        f"`- {id_key}: name` and further keys are accepted")
    name = next((value.value for key, value in node.value
                 if key.value == id_key and isinstance(value, yaml.ScalarNode)), None)
    if not name:
        raise SpecError(at, id_key, "the entry has no name", f"`- {id_key}: name` must be present")
    at = Location(file, line, str(name))
    reader = _Reader(at, may_repeat)
    values = dict(reader.map(node, ""))
    lines = [(key, value.line) for key, value in values.items()]
    lines += [(f"{key}.{sub}", inner.line) for key, value in values.items()
              for sub, inner in value.map or ()]
    return Entry(Location(file, line, str(name), tuple(lines)), values, tuple(reader.faults))


class _Reader:
    """Reads the values of one entry."""

    def __init__(self, at: Location, may_repeat: Callable[[str], bool]):
        self.at, self.may_repeat = at, may_repeat
        self.faults: list[SpecError] = []

    def map(self, node: yaml.MappingNode, prefix: str) -> list[tuple[str, Value]]:
        result: dict[str, Value] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = str(key_node.value).strip()
            if key not in result:
                result[key] = self._value(value_node, line, f"{prefix}{key}.")
            elif not self.may_repeat((prefix + key).partition(".")[0]):
                self.faults.append(SpecError(
                    Location(self.at.file, line, self.at.op), prefix + key,
                    f"given twice, first in line {result[key].line}", "a key may be given once"))
        return list(result.items())

    def _value(self, node: yaml.Node, line: int, prefix: str) -> Value:
        if isinstance(node, yaml.MappingNode):
            return Value(line, map=tuple(self.map(node, prefix)))
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self._value(item, item.start_mark.line + 1, prefix) for item in node.value)
            return Value(line, items=items)
        return Value(line, text=node.value.strip(), quoted=node.style in ("'", '"'))
