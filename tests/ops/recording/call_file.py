"""Recorded calls in files: an operator's calls in YAML, and their tensors in safetensors beside them.

A file has recorded calls alone, or is the record of an operator (docs/op_records.md). `autophi op --cases` reads both. An
element of bfloat16 is held as the float32 that it equals.
"""

import dataclasses
import json
import math
import re
import struct
from pathlib import Path

import numpy as np
import record_text
import yaml

_CODES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
          "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "C64": "complex64", "C128": "complex128"}
_NAMES = {name: code for code, name in _CODES.items()}


@dataclasses.dataclass(frozen=True)
class Array:
    """A tensor on the host."""
    dtype: str
    values: np.ndarray

    def cast(self, dtype: str) -> "Array":
        held = self.values.astype("float32" if dtype == "bfloat16" else dtype)
        return Array(dtype, rounded_to_bfloat16(held) if dtype == "bfloat16" else held)

    def reshaped(self, shape: list[int]) -> "Array":
        """Elements one after the other, from the front again where there are too few; ones where there are none."""
        if self.values.size == 0:
            return Array(self.dtype, np.ones(shape, self.values.dtype))
        return Array(self.dtype, np.resize(self.values, shape))


Tensors = Array | list[Array | None] | None


@dataclasses.dataclass
class Operator:
    """What the file says of an operator, and its calls as they stand there."""
    name: str
    head: dict[str, str]  # op, args, output, as written
    arguments: list[tuple[str, str]]  # type and name
    outputs: list[tuple[str, bool]]  # name, and whether it is a list
    calls: list[dict]
    tensors: dict[str, Array]

    def recorded_outputs(self) -> list[str]:
        return list(dict.fromkeys(name for call in self.calls for name in call.get("out", {})))


def rounded_to_bfloat16(values: np.ndarray) -> np.ndarray:
    """To the nearest, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, rounded.view(np.float32)).astype(np.float32)


def read_tensors(path: Path) -> dict[str, Array]:
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    found = {}
    for key, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        dtype = _CODES[entry["dtype"]]
        if dtype == "bfloat16":
            values = (np.frombuffer(data[begin:end], np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data[begin:end], dtype)
        found[key] = Array(dtype, values.reshape(entry["shape"]).copy())
    return found


def write_tensors(path: Path, tensors: dict[str, Array]) -> None:
    header, parts, offset = {}, [], 0
    for key, array in tensors.items():
        values = np.ascontiguousarray(array.values)
        if array.dtype == "bfloat16":
            values = (values.reshape(-1).view(np.uint32) >> 16).astype(np.uint16)
        parts.append(values.tobytes())
        header[key] = {"dtype": _NAMES[array.dtype], "shape": list(array.values.shape),
                       "data_offsets": [offset, offset + len(parts[-1])]}
        offset += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _number(value):
    """JSON's NaN, Infinity and 1e-08, which are texts to a reader of YAML."""
    if isinstance(value, list):
        return [_number(item) for item in value]
    is_number = isinstance(value, str) and re.fullmatch(r"NaN|-?Infinity|-?[\d.]+e[-+]?\d+", value)
    return float(value) if is_number else value


def default_of(text: str):
    """The value of a default as signatures write it; None where it is no value of YAML, such as a place."""
    text = text.strip()
    if match := re.fullmatch(r"\{(.*)\}", text):
        return [default_of(part) for part in _split(match.group(1))]
    if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?f?", text):
        number = float(text.rstrip("f"))
        return int(number) if re.fullmatch(r"-?\d+", text) else number
    if text in ("true", "false"):
        return text == "true"
    return json.loads(text) if text.startswith('"') else None


def defaults_of(signature: str) -> dict:
    """By name, of the parameters that have one."""
    parts = (text.split("=", 1) for text in _split(signature) if "=" in text and not text.startswith("Place"))
    found = {head.strip().rsplit(" ", 1)[1]: default_of(text) for head, text in parts}
    return {name: value for name, value in found.items() if value is not None}


def read_operator(path: Path) -> Operator:
    """`path` is the .yaml file. A record must have recorded calls."""
    document = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    document = {"op": document["op"]} | document.get("recorded", document)
    tensors = read_tensors(path.with_suffix(".safetensors"))
    arguments = []
    for text in _split(document["args"]):
        kind, name = text.split("=")[0].strip().rsplit(" ", 1)
        arguments.append((kind, name))
    outputs = []
    for text in _split(document["output"]):
        match = re.match(r"(Tensor(?:\[\])?)(?:\((\w+)\))?", text)
        outputs.append((match.group(2) or "out", match.group(1) == "Tensor[]"))
    calls = [record_text.full(call, tensors) for call in document["cases"]]
    for call in calls:
        given = {name: _number(value) for name, value in call["attrs"].items()}
        values = defaults_of(document["args"]) | given
        call["attrs"] = {name: values[name] for _, name in arguments if name in values} | given
    return Operator(document["op"], {key: document[key] for key in ("op", "args", "output")}, arguments, outputs, calls,
                    tensors)


def write_operator(path: Path, operator: Operator, calls: list[dict], tensors: dict[str, Array]) -> None:
    head = "".join(f"{key}: {text if key == 'op' else json.dumps(text)}\n" for key, text in operator.head.items())
    path.write_text(head + "cases:\n" + "".join(f"- {json.dumps(call)}\n" for call in calls), encoding="utf-8")
    write_tensors(path.with_suffix(".safetensors"), tensors)


def _renamed(call: dict, number: int) -> dict:
    """The call under another number, which begins the names of its tensors."""
    def rename(value):
        if isinstance(value, dict):
            return {name: rename(item) for name, item in value.items()}
        if isinstance(value, list):
            return [rename(item) for item in value]
        return value and f"{number}.{value.split('.', 1)[1]}"
    tensors = {key: rename(call[key]) for key in ("in", "out", "grad_of_out", "grad") if key in call}
    return call | tensors | {"id": number}


def add_to_record(path: Path, added: Operator) -> None:
    """Appends calls to those of a record, with numbers that follow its own. `recorded` is the record's last section."""
    own = read_operator(path)
    first = max(99, *(call["id"] for call in own.calls)) + 1
    text = path.read_text(encoding="utf-8")
    for number, call in enumerate(added.calls, first):
        start = f"{call['id']}."
        own.tensors |= {f"{number}.{key[len(start):]}": array for key, array in added.tensors.items() if key.startswith(start)}
        text += record_text.item(record_text.short(_renamed(call, number)), "  ")
    path.write_text(text, encoding="utf-8")
    write_tensors(path.with_suffix(".safetensors"), own.tensors)


def bytes_of(tensors: dict[str, Array]) -> int:
    return sum(math.prod(array.values.shape) * array.values.itemsize for array in tensors.values())
