"""Recorded calls in files: an operator's calls in YAML, and their tensors in safetensors beside them.

`autophi op --cases` reads them. An element of bfloat16 is held as the float32 that it equals.
"""

import dataclasses
import json
import math
import re
import struct
from pathlib import Path

import numpy as np
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
    """JSON's NaN and Infinity, which are texts to a reader of YAML."""
    if isinstance(value, list):
        return [_number(item) for item in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def read_operator(path: Path) -> Operator:
    """`path` is the .yaml file."""
    document = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    arguments = []
    for text in _split(document["args"]):
        kind, name = text.split("=")[0].strip().rsplit(" ", 1)
        arguments.append((kind, name))
    outputs = []
    for text in _split(document["output"]):
        match = re.match(r"(Tensor(?:\[\])?)(?:\((\w+)\))?", text)
        outputs.append((match.group(2) or "out", match.group(1) == "Tensor[]"))
    calls = document["cases"]
    for call in calls:
        call["attrs"] = {name: _number(value) for name, value in call["attrs"].items()}
    return Operator(document["op"], {key: document[key] for key in ("op", "args", "output")}, arguments, outputs, calls,
                    read_tensors(path.with_suffix(".safetensors")))


def write_operator(path: Path, operator: Operator, calls: list[dict], tensors: dict[str, Array]) -> None:
    head = "".join(f"{key}: {text if key == 'op' else json.dumps(text)}\n" for key, text in operator.head.items())
    path.write_text(head + "cases:\n" + "".join(f"- {json.dumps(call)}\n" for call in calls), encoding="utf-8")
    write_tensors(path.with_suffix(".safetensors"), tensors)


def bytes_of(tensors: dict[str, Array]) -> int:
    return sum(math.prod(array.values.shape) * array.values.itemsize for array in tensors.values())
