"""Jobs and the training oracle (tests/support/oracle): weights for both, and the metrics of each step of both.

The environment variable TRAINING_ORACLE names the oracle; ctest sets it.
"""

import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess

import launch

ORACLE = os.environ.get("TRAINING_ORACLE", str(launch.SOURCE_DIR / "build/bin/training_oracle"))
STATE_TOLERANCE = 1e-4  # of how far a parameter in float32 has moved,
FLOAT_TOLERANCE = 4e-7  # and of its size
TYPE_CODES = {"F32": "f", "F64": "d", "F16": "e", "BF16": "H"}


def shapes_of(model):
    """Names and shapes of a model's parameters (docs/running.md)."""
    d, vocab, gpt = model["d_model"], model["vocab"], model.get("kind", "gpt") == "gpt"
    hidden = d * model.get("mlp_ratio", 4) if gpt else model["ffn"]
    kv = 0 if gpt else d // model["heads"] * model["kv_heads"]
    products = (
        {"qkv": (d, 3 * d), "projection": (d, d), "up": (d, hidden), "down": (hidden, d)}
        if gpt
        else {
            "query": (d, d), "key": (d, kv), "value": (d, kv), "projection": (d, d),
            "gate": (d, hidden), "up": (d, hidden), "down": (hidden, d),
        }
    )  # fmt: skip
    shapes = {"token_embedding": (vocab, d), "head": (d, vocab)}
    if gpt:
        shapes["position_embedding"] = (model["seq_len"], d)
    norms = ["final_norm"]
    for layer in range(model["layers"]):
        norms += [f"layer{layer}.norm_attention", f"layer{layer}.norm_mlp"]
        for name, shape in products.items():
            shapes[f"layer{layer}.{name}.weight"] = shape
            if gpt:
                shapes[f"layer{layer}.{name}.bias"] = shape[1:]
    for norm in norms:
        for part in ("scale", "shift") if gpt else ("scale",):
            shapes[f"{norm}.{part}"] = (d,)
    return shapes


def as_bfloat16(value):
    """The float of 8 significant bits below `value`: float16 has it too, unless it is very small."""
    return from_bfloat16(struct.unpack("<I", struct.pack("<f", value))[0] >> 16)


def from_bfloat16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def write_weights(folder, model, seed, factor=1.0):
    """Parameters of which none is zero or all alike, the same in all dtypes; `factor` is on the head.

    Returns the folder's name.
    """
    draw = random.Random(seed)
    header, values = {}, array.array("f")
    for name, shape in shapes_of(model).items():
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        mean, std = (1.0, 0.2) if name.endswith("scale") else (0.0, 0.2)
        std *= factor if name == "head" else 1.0
        begin = 4 * len(values)
        values.extend(as_bfloat16(draw.gauss(mean, std)) for _ in range(count))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, 4 * len(values)]}
    path = pathlib.Path(folder)
    path.mkdir()
    text = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + values.tobytes())
    return str(path)


def read_file(path):
    """Values by name of the tensors in a safetensors file."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + at for at in entry["data_offsets"])
            values = [value for (value,) in struct.iter_unpack("<" + TYPE_CODES[entry["dtype"]], data[begin:end])]
            tensors[name] = [from_bfloat16(bits) for bits in values] if entry["dtype"] == "BF16" else values
    return tensors


def read_weights(folder):
    """Values by name of a folder that a job on any mesh, or the oracle, saved."""
    index = pathlib.Path(folder) / "model.safetensors.index.json"
    if not index.exists():
        return read_file(index.with_name("model.safetensors"))
    files, tensors = {}, {}
    for name, tensor in json.loads(index.read_text())["tensors"].items():
        values = tensors[name] = [None] * math.prod(tensor["shape"])
        for piece in tensor["pieces"]:
            file = piece["file"]
            files[file] = files.get(file) or read_file(index.with_name(file))
            fill(values, tensor["shape"], piece, files[file][piece["name"]])
    return tensors


def fill(values, shape, piece, part):
    """Writes a piece to its place among the values of a tensor of one or two dims."""
    columns = shape[-1]
    size, offset = piece["size"][-1], piece["offset"][-1]
    first_row = piece["offset"][0] if len(shape) == 2 else 0
    for row in range(len(part) // max(1, size)):
        begin = (first_row + row) * columns + offset
        values[begin : begin + size] = part[row * size : (row + 1) * size]


def largest_difference(left, right):
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


def check_states(test, folder, expected_folder, initial_folder=None):
    """Parameters are as expected, measured by how far training has moved them."""
    given, expected = read_weights(folder), read_weights(expected_folder)
    initial = read_weights(initial_folder) if initial_folder else None
    test.assertEqual(given.keys(), expected.keys())
    for name, wanted in expected.items():
        apart = largest_difference(given[name], wanted)
        moved = largest_difference(initial[name], wanted) if initial else 0.0
        test.assertEqual(moved > 0.0, initial is not None, name)
        limit = STATE_TOLERANCE * moved + FLOAT_TOLERANCE * max(map(abs, wanted))
        test.assertLessEqual(apart, limit, f"{name}, moved by {moved}")


def check_steps(test, given, expected, tolerances):
    """Losses and norms agree within relative tolerances, rates and scales exactly."""
    test.assertEqual(len(given), len(expected))
    for own, wanted in zip(given, expected):
        said = f"step {own['step']}: {own} against {wanted}"
        test.assertLess(abs(own["loss"] - wanted["loss"]), tolerances["loss"] * wanted["loss"], said)
        test.assertAlmostEqual(own["lr"], wanted["lr"], delta=1e-12, msg=said)
        test.assertEqual(own["loss_scale"], wanted["loss_scale"], said)
        test.assertEqual(own["applied"], wanted["applied"], said)
        if not own["applied"]:
            test.assertIsNone(own["grad_norm"], said)  # neither infinity nor NaN is JSON
        else:
            apart = abs(own["grad_norm"] - wanted["grad_norm"])
            test.assertLess(apart, tolerances["grad_norm"] * wanted["grad_norm"], said)


class Comparison:
    """Runs jobs and the oracle in a separate folder."""

    def __init__(self, folder):
        self.folder = folder
        self.path = pathlib.Path(folder.name)

    def play(self, processes, text, *flags):
        """The job's metrics of each step, and its report."""
        metrics = self.path / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        report, _ = self.folder.report(processes, text, f"--metrics={metrics}", "--quiet", *flags)
        steps = [json.loads(line) for line in metrics.read_text().splitlines()]
        return steps, report

    def expect(self, text, left_out=(), save=None):
        """The oracle's results of each step."""
        job = self.folder.write("oracle.yaml", text)
        out = self.path / "oracle.json"
        arguments = [ORACLE, job, f"--out={out}", f"--left_out={','.join(map(str, left_out))}"]
        subprocess.run(arguments + ([f"--save={save}"] if save else []), check=True, cwd=launch.SOURCE_DIR)
        return json.loads(out.read_text())
