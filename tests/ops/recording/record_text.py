"""The text of records (docs/op_records.md): flow style, a call on one line, and lines of at most 100 columns.

A recorded call names its tensors in short where it can: `in: [x]` of call 4 is the tensor 4.x of the safetensors file. The
gradients of its outputs are those that the file has.
"""

import json
import re

import yaml

WIDTH = 100
_PREFIXES = {"in": "", "out": "out.", "grad_of_out": "dout.", "grad": "d."}
_PLAIN = re.compile(r"[A-Za-z_][\w.]*|\d[\d.]*(e[-+]?\d+)?|-\d[\d.]*(e[-+]?\d+)?")
_RESERVED = re.compile(r"(?i)true|false|null|yes|no|on|off")


def scalar(value) -> str:
    """A value as YAML; texts are quoted where they would be read as something else."""
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = _PLAIN.fullmatch(value) and not _RESERVED.fullmatch(value) and yaml.safe_load(value) == value
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def flow(value) -> str:
    """Lists and maps within one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def _pieces(text: str) -> list[str]:
    """The text, cut behind commas, at those in the fewest brackets; else a quoted text, cut at its blanks."""
    tokens = re.findall(r'"(?:\\.|[^"\\])*"|, |.', text)
    levels = [sum((token in "{[") - (token in "}]") for token in tokens[:i]) for i in range(len(tokens))]
    least = min((level for token, level in zip(tokens[:-1], levels) if token == ", "), default=None)
    parts = [""]
    for token, level in zip(tokens, levels):
        parts[-1] += token
        if token == ", " and level == least:
            parts.append("")
    return [part for part in parts if part] if least is not None else re.findall(r"[^ ]+ ?", text)


def wrapped(text: str, indent: str) -> str:
    """The text at this indentation, in lines of at most WIDTH columns. YAML reads a line's end within quotes as a blank."""
    lines, margin = [indent], indent + "   "

    def add(piece: str) -> None:
        if len(lines[-1]) + len(piece.rstrip()) <= WIDTH:
            lines[-1] += piece
        elif len(margin) + len(piece.rstrip()) > WIDTH and len(parts := _pieces(piece)) > 1:
            for part in parts:
                add(part)
        elif lines[-1].strip() in ("", "-"):
            lines[-1] += piece
        else:
            lines.append(margin + piece)

    add(text)
    return "".join(line.rstrip() + "\n" for line in lines)


def item(value, indent: str = "") -> str:
    """An item of a list, such as a call."""
    return wrapped("- " + flow(value), indent)


def _short_names(number: int, prefix: str, tensors: dict) -> list[str] | None:
    """The names alone, if the tensors have the names that follow from them."""
    for name, key in tensors.items():
        start = f"{number}.{prefix}{name}"
        expected = [f"{start}.{i}" for i in range(len(key))] if isinstance(key, list) else start
        if not key or key != expected:
            return None
    return list(tensors)


def _gradients_of(number: int, outputs, keys) -> dict:
    """Those of the outputs that the file has, elements of lists by themselves."""
    found = {}
    for name in outputs:
        start = f"{number}.dout.{name}"
        count = next(i for i in range(len(keys) + 1) if f"{start}.{i}" not in keys)
        found |= {name: start} if start in keys else {f"{name}.{i}": f"{start}.{i}" for i in range(count)}
    return found


def short(call: dict) -> dict:
    """A call as records have it: absent inputs are left out, absent outputs and gradients are named apart."""
    result = {}
    given = call.get("grad_of_out", {})
    is_derived = call.get("grad") and given == _gradients_of(call["id"], call["out"], set(given.values()))
    for key, value in call.items():
        if key == "grad_of_out" and is_derived:
            continue
        if key not in _PREFIXES:
            if value != {}:
                result[key] = value
            continue
        given = {name: tensor for name, tensor in value.items() if tensor is not None}
        names = _short_names(call["id"], _PREFIXES[key], given)
        absent = [name for name, tensor in value.items() if tensor is None]
        if names is None or (key == "grad_of_out" and not given):
            result[key] = value
            continue
        if names or not absent:
            result[key] = names
        if absent and key == "out":
            result["absent"] = absent
        if absent and key == "grad":
            result["unreached"] = absent
    return result


def full(call: dict, keys) -> dict:
    """The reverse of `short`, but for absent inputs. `keys` are the names of the file's tensors."""
    result = {key: value for key, value in call.items() if key not in ("absent", "unreached")}
    for key, prefix in _PREFIXES.items():
        named = {}
        for name in call[key] if isinstance(call.get(key), list) else ():
            start = f"{call['id']}.{prefix}{name}"
            count = next(i for i in range(len(keys) + 1) if f"{start}.{i}" not in keys)
            named[name] = start if start in keys else [f"{start}.{i}" for i in range(count)]
        if isinstance(call.get(key), list):
            result[key] = named
    for key, absent in (("out", "absent"), ("grad", "unreached")):
        if absent in call:
            result[key] = result.get(key, {}) | dict.fromkeys(call[absent])
    if "grad_of_out" not in result and (given := _gradients_of(call["id"], result.get("out", {}), keys)):
        result["grad_of_out"] = given
    return {"attrs": {}} | result
