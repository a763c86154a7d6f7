"""Asks Paddle for calls near the recorded ones (variations.py), and writes its answers as recorded calls.

Usage: record_calls.py OUT [OP ..] [--count=40] [--seed=1] [--answers-of=TOOL [--add]]

  python3 -m venv /tmp/paddle && /tmp/paddle/bin/pip install paddlepaddle==3.3.1 PyYAML
  /tmp/paddle/bin/python tests/ops/recording/record_calls.py /tmp/calls
  build/bin/autophi op --cases=/tmp/calls

Where the two differ, somebody has to find out who is right: Paddle has faults of its own (`differences` of the records),
and refuses or accepts what we do not. With --answers-of=build/bin/autophi only calls stay that it answers alike; --add adds
them to the records. Paddle dies in some calls, or hangs: each operator is asked in a child, and such calls are left out.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", GLOG_minloglevel="3")

import numpy as np  # noqa: E402: threads are set before
import paddle  # noqa: E402
from call_file import Array, Operator, add_to_record, bytes_of, read_operator, write_operator  # noqa: E402
from variations import Call, has_gradient_to_compare, vary  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 5.0  # seconds for one call
DIFFERENTIABLE = ("float32", "float64", "complex64", "complex128")
# A kernel that is not there; all else that Paddle throws refuses the call.
NO_KERNEL = re.compile("kernel_iter|kernel with key|is not registered|Unimplemented")


def to_paddle(array: Array | None):
    if array is None:
        return None
    tensor = paddle.to_tensor(array.values).reshape(array.values.shape)
    return tensor.astype("bfloat16") if array.dtype == "bfloat16" else tensor


def from_paddle(tensor) -> Array:
    dtype = str(tensor.dtype).rsplit(".", maxsplit=1)[-1]
    values = (tensor.astype("float32") if dtype == "bfloat16" else tensor).numpy()
    return Array(dtype, values.reshape(tensor.shape))


class Asked:
    """One call, made by Paddle: its outputs, and the gradients of its inputs for drawn ones of the outputs."""

    def __init__(self, operator: Operator, call: Call, with_gradients: bool, seed: int):
        self._operator, self._leaves = operator, {}
        values = [self._argument(kind, name, call, with_gradients) for kind, name in operator.arguments]
        results = getattr(paddle._C_ops, operator.name)(*values)  # pylint: disable=protected-access
        if len(operator.outputs) == 1 or not isinstance(results, tuple):
            results = (results,)
        wanted = operator.recorded_outputs()
        self.outputs = {name: result for (name, _), result in zip(operator.outputs, results) if name in wanted}
        self.given, self.gradients = {}, {}
        if self._leaves:
            self._differentiate(np.random.default_rng(seed))

    def _argument(self, kind: str, name: str, call: Call, with_gradients: bool):
        if name in call.inputs:
            value = call.inputs[name]
            if isinstance(value, list):
                return [self._leaf(array, f"{name}.{i}", with_gradients) for i, array in enumerate(value)]
            return self._leaf(value, name, with_gradients)
        value = call.attributes.get(name)
        if kind.startswith("Place"):
            return paddle.CPUPlace()
        if kind == "DataType" and value is not None:
            return getattr(paddle, value)
        return float(value) if kind in ("float", "double") and value is not None else value

    def _leaf(self, array: Array | None, name: str, with_gradients: bool):
        tensor = to_paddle(array)
        if tensor is None or not with_gradients or array.dtype not in DIFFERENTIABLE:
            return tensor
        tensor.stop_gradient = False
        self._leaves[name] = tensor
        return tensor.clone() if self._operator.name.endswith("_") else tensor

    def _differentiate(self, random: np.random.Generator) -> None:
        outputs = []
        for name, result in self.outputs.items():
            listed = enumerate(result) if isinstance(result, list) else [(None, result)]
            for at, tensor in listed:
                if tensor is None or tensor.stop_gradient or not has_gradient_type(tensor):
                    continue
                values = random.standard_normal(tensor.shape)
                if tensor.is_complex():
                    values = values + 1j * random.standard_normal(tensor.shape)
                outputs.append(tensor)
                given = paddle.to_tensor(np.asarray(values)).reshape(tensor.shape).astype(tensor.dtype)
                self.given[name if at is None else f"{name}.{at}"] = given
        if outputs:
            found = paddle.grad(outputs, list(self._leaves.values()), list(self.given.values()), allow_unused=True)
            self.gradients = dict(zip(self._leaves, found))


def has_gradient_type(tensor) -> bool:
    return str(tensor.dtype).rsplit(".", maxsplit=1)[-1] in DIFFERENTIABLE


def answer_of(operator: Operator, call: Call, number: int) -> Asked | str:
    """What Paddle answers, without gradients where it has none; or how it refuses: "call" or "dtype"."""
    differentiates = has_gradient_to_compare(call) and any("grad" in recorded for recorded in operator.calls)
    for with_gradients in [True, False] if differentiates else [False]:
        try:
            return Asked(operator, call, with_gradients, number)
        except Exception as error:  # pylint: disable=broad-exception-caught
            refused = "dtype" if NO_KERNEL.search(str(error)) else "call"
    return refused


def record(number: int, call: Call, answer: Asked | str, names: list[str]) -> tuple[dict, dict[str, Array]]:
    """The call as it stands in a file, and its tensors."""
    tensors: dict[str, Array] = {}

    def keep(key: str, value):
        if isinstance(value, list):
            return [keep(f"{key}.{i}", item) for i, item in enumerate(value)]
        if value is None or (not isinstance(value, Array) and not value._is_initialized()):  # pylint: disable=protected-access
            return None
        tensors[key] = value if isinstance(value, Array) else from_paddle(value)
        return key

    entry = {"id": number, "in": {name: keep(f"{number}.{name}", value) for name, value in call.inputs.items()},
             "attrs": call.attributes}
    if isinstance(answer, str):
        return entry | {"refused": answer}, tensors
    entry["out"] = {name: keep(f"{number}.out.{name}", answer.outputs.get(name)) for name in names}
    if answer.gradients:
        entry["grad_of_out"] = {name: keep(f"{number}.dout.{name}", value) for name, value in answer.given.items()}
        entry["grad"] = {name: keep(f"{number}.d.{name}", value) for name, value in answer.gradients.items()}
    if call.tolerance is not None:
        entry["tol"] = call.tolerance
    return entry, tensors


def ask(operator: Operator, out: Path, seed: int, numbers: list[int]) -> None:
    """In a child: all calls of these numbers. The one under way stands in a file."""
    entries, tensors = [], {}
    for number in numbers:
        (out / f"{operator.name}.number").write_text(str(number), encoding="utf-8")
        call = vary(operator, seed, number)
        if call.what:
            entry, own = record(number, call, answer_of(operator, call, number), operator.recorded_outputs())
            entries.append(entry)
            tensors |= own
    write_operator(out / f"{operator.name}.yaml", operator, entries, tensors)


def ask_in_child(operator: Operator, out: Path, seed: int, numbers: list[int]) -> int | None:
    """The number of the call in which Paddle died or hung; None where all went well."""
    under_way = out / f"{operator.name}.number"
    under_way.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            ask(operator, out, seed, numbers)
            os._exit(0)
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            os._exit(1)
    last, since = "", time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
        text = under_way.read_text(encoding="utf-8") if under_way.exists() else ""
        if text != last:
            last, since = text, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            os.kill(child, signal.SIGKILL)
    last = under_way.read_text(encoding="utf-8") if under_way.exists() else ""
    under_way.unlink(missing_ok=True)
    return None if status == 0 else int(last or numbers[0])


def keep_what_agrees(path: Path, tool: str) -> None:
    """Leaves the calls that the tool answers alike, at most six of an operator and 20 kB."""
    said = subprocess.run([tool, "op", f"--cases={path}"], capture_output=True, text=True, check=False).stdout
    wrong = {int(number) for number in re.findall(r"^FAIL \S+ case (\d+)", said, re.MULTILINE)}
    operator = read_operator(path)
    kept, tensors = [], {}
    for call in [call for call in operator.calls if call["id"] not in wrong]:
        own = {key: array for key, array in operator.tensors.items() if key.startswith(f"{call['id']}.")}
        if len(kept) < 6 and bytes_of(tensors) + bytes_of(own) < 20_000:
            kept.append(call)
            tensors |= own
    write_operator(path, operator, kept, tensors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--count", type=int, default=40, help="calls of each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers-of", metavar="TOOL")
    parser.add_argument("--add", action="store_true", help="to the records")
    args = parser.parse_args()
    if args.add and not args.answers_of:
        parser.error("--add requires --answers-of")
    paddle.set_device("cpu")
    args.out.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "tests/ops").glob("*/*.safetensors")):
        if args.operators and path.stem not in args.operators:
            continue
        record_path = path.with_suffix(".yaml")
        operator = read_operator(record_path)
        numbers = list(range(args.count))
        while numbers and (dead := ask_in_child(operator, args.out, args.seed, numbers)) is not None:
            numbers.remove(dead)
            print(f"{operator.name}: Paddle dies in call {dead}", flush=True)
            if args.count - len(numbers) > 8:
                break
        written = args.out / record_path.name
        if args.answers_of and written.exists():
            keep_what_agrees(written, args.answers_of)
            if args.add:
                add_to_record(record_path, read_operator(written))
        calls = read_operator(written).calls if written.exists() else []
        print(json.dumps({"op": operator.name, "calls": len(calls)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
