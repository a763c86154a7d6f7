"""The batches of a job, drawn a second time: written from docs/data.md alone, without a line of the library's.

Data is a `Row`: its ids, and the lengths of its documents where they are known.
"""

import pathlib
import struct
from typing import NamedTuple, Optional

MASK = (1 << 64) - 1
FORMATS = {"uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i", "int64": "q"}
MEGATRON_CODES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 8: "uint16"}


class Row(NamedTuple):
    ids: list
    documents: Optional[list] = None


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def random_of(seed, sample):
    return mix((mix(seed) + sample) & MASK)


def begins(row, seq_len, documents):
    """Tokens with which a window may begin, in order."""
    if documents == "joined":
        return range(len(row.ids) - seq_len)
    places, first = [], 0
    for length in row.documents:
        places += range(first, first + max(0, length - seq_len))
        first += length
    return places


def window(row, seq_len, documents, seed, sample):
    """(where it begins, its seq_len ids and the label of the last)."""
    places = begins(row, seq_len, documents)
    begin = places[random_of(seed, sample) % len(places)]
    return begin, row.ids[begin:begin + seq_len + 1]


def unpacked(data, dtype):
    return list(struct.unpack(f"<{len(data) // struct.calcsize(FORMATS[dtype])}{FORMATS[dtype]}", data))


def read_bytes(paths):
    texts = [pathlib.Path(path).read_bytes() for path in paths]
    return Row(list(b"".join(texts)), [len(text) for text in texts])


def read_tokens(paths, dtype):
    return Row([id for path in paths for id in unpacked(pathlib.Path(path).read_bytes(), dtype)])


def read_megatron(prefixes):
    ids, documents = [], []
    for prefix in prefixes:
        index = pathlib.Path(f"{prefix}.idx").read_bytes()
        magic, version, code, sequences, entries = struct.unpack_from("<9sQBQQ", index)
        assert magic == b"MMIDIDX\0\0" and version == 1
        lengths = struct.unpack_from(f"<{sequences}i", index, 34)
        ends = struct.unpack_from(f"<{entries}q", index, 34 + 12 * sequences)
        ids += unpacked(pathlib.Path(f"{prefix}.bin").read_bytes(), MEGATRON_CODES[code])
        documents += [sum(lengths[begin:end]) for begin, end in zip(ends, ends[1:])]
    return Row(ids, documents)


def write_tokens(path, ids, dtype):
    pathlib.Path(path).write_bytes(struct.pack(f"<{len(ids)}{FORMATS[dtype]}", *ids))


def write_megatron(prefix, documents, dtype):
    """documents: lists of sequences, which are lists of ids."""
    sequences = [sequence for document in documents for sequence in document]
    write_tokens(f"{prefix}.bin", [id for sequence in sequences for id in sequence], dtype)
    code = next(code for code, name in MEGATRON_CODES.items() if name == dtype)
    size = struct.calcsize(FORMATS[dtype])
    index = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, code, len(sequences), len(documents) + 1)
    index += b"".join(struct.pack("<i", len(sequence)) for sequence in sequences)
    done = 0
    for sequence in sequences:
        index += struct.pack("<q", done * size)
        done += len(sequence)
    ends = [0]
    for document in documents:
        ends.append(ends[-1] + len(document))
    pathlib.Path(f"{prefix}.idx").write_bytes(index + struct.pack(f"<{len(ends)}q", *ends))
