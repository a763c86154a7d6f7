"""Files of ours in another implementation of safetensors, and its files in ours.

The other implementation is the Python library `safetensors` where it can be imported. Debian 12 has no
package of it, so elsewhere it is SpecFormat below, which follows the format's description to the
letter. The test says which it used.
"""

import json
import os
import pathlib
import struct
import subprocess
import tempfile

TOOL = os.environ["CHECKPOINT_TOOL"]
WIDTHS = {"BOOL": 1, "U8": 1, "I32": 4, "I64": 8, "F16": 2, "BF16": 2, "F32": 4, "F64": 8,
          "I8": 1, "I16": 2, "C64": 8, "C128": 16}
NAMES = {"BOOL": "bool", "U8": "uint8", "I32": "int32", "I64": "int64", "F16": "float16",
         "BF16": "bfloat16", "F32": "float32", "F64": "float64",
         "I8": "int8", "I16": "int16", "C64": "complex64", "C128": "complex128"}


def numel(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class SpecFormat:
    """Reads and writes {name: (dtype, shape, bytes)}, strictly by the format's description."""

    name = "a reader written after the format's description (no Python library safetensors here)"
    dtypes = list(WIDTHS)

    @staticmethod
    def no_duplicates(pairs):
        assert len(dict(pairs)) == len(pairs), "duplicate keys"
        return dict(pairs)

    def load(self, file):
        (length,) = struct.unpack("<Q", file[:8])
        header_bytes, data = file[8:8 + length], file[8 + length:]
        assert len(header_bytes) == length and header_bytes.startswith(b"{")
        header = json.loads(header_bytes.decode("utf-8"), object_pairs_hook=self.no_duplicates)
        metadata = header.pop("__metadata__", {})
        assert all(isinstance(text, str) for text in metadata.values())
        end = 0
        for info in sorted(header.values(), key=lambda info: info["data_offsets"]):
            assert info["data_offsets"][0] == end, "a hole or an overlap"
            assert (8 + length + end) % WIDTHS[info["dtype"]] == 0, "not aligned"
            end = info["data_offsets"][1]
            assert end - info["data_offsets"][0] == numel(info["shape"]) * WIDTHS[info["dtype"]]
        assert end == len(data), "bytes that belong to no tensor"
        return {name: (info["dtype"], info["shape"], data[slice(*info["data_offsets"])])
                for name, info in header.items()}

    def dump(self, tensors):
        header, data = {"__metadata__": {"made": "here"}}, b""
        for name, (dtype, shape, content) in tensors.items():
            offsets = [len(data), len(data) + len(content)]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
            data += content
        text = json.dumps(header).encode("utf-8")
        return struct.pack("<Q", len(text)) + text + data


class LibraryFormat:
    name = "the Python library safetensors"
    dtypes = [dtype for dtype in WIDTHS if dtype != "BF16"]  # NumPy has no bfloat16

    def load(self, file):
        return {name: (info["dtype"], list(info["shape"]), bytes(info["data"]))
                for name, info in safetensors.deserialize(file)}

    def dump(self, tensors):
        arrays = {name: numpy.frombuffer(content, NAMES[dtype]).reshape(shape)
                  for name, (dtype, shape, content) in tensors.items()}
        return safetensors.numpy.save(arrays, {"made": "here"})


try:
    import numpy
    import safetensors
    import safetensors.numpy
    other = LibraryFormat()
except ImportError:
    other = SpecFormat()


def content_of(dtype, shape):
    size = numel(shape) * WIDTHS[dtype]
    return b"\1" * size if dtype == "BOOL" else bytes((7 * i + 1) % 256 for i in range(size))


def check_ours_in_theirs(folder):
    subprocess.run([TOOL, "save", folder], check=True)
    expected = {f"odd.{NAMES[dtype]}": (dtype, [3, 5]) for dtype in WIDTHS}
    expected |= {"scalar": ("F32", []), "empty": ("F32", [0, 4]), 'naïve "name"\\': ("I64", [2])}
    expected = {name: (*meta, content_of(*meta)) for name, meta in expected.items()}
    found = other.load((folder / "model.safetensors").read_bytes())
    assert found == expected, (found, expected)
    # Hugging Face's tools go by the index: every tensor whole, in this file, and the sum of the bytes.
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == {name: "model.safetensors" for name in expected}, index
    assert index["metadata"]["total_size"] == sum(len(content) for *_, content in expected.values())


def check_theirs_in_ours(folder):
    # A header of odd length: the data is not aligned.
    tensors = {"x" * extra: (dtype, [2, 3], content_of(dtype, [2, 3]))
               for extra, dtype in enumerate(other.dtypes, start=1)}
    tensors["none"] = ("F16", [5, 0], b"")
    path = folder / "theirs.safetensors"
    path.write_bytes(other.dump(tensors))
    dumped = subprocess.run([TOOL, "dump", path], check=True, stdout=subprocess.PIPE).stdout
    expected = {name: [dtype, shape, content.hex()] for name, (dtype, shape, content) in tensors.items()}
    assert json.loads(dumped) == expected, (dumped, expected)


with tempfile.TemporaryDirectory() as name:
    print(f"against {other.name}")
    check_ours_in_theirs(pathlib.Path(name))
    check_theirs_in_ours(pathlib.Path(name))
print("passed")
