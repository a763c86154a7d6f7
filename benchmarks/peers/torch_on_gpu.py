"""The command line of `benchmarks/torch_on_gpu`: steps of gpu_bench that have sizes, run by PyTorch."""

import argparse
import json
import statistics
import time
from dataclasses import fields
from pathlib import Path

from peers.reference import TRAINING

LEFT_OUT = 78
_WARM_UP = 6
_TURNS = 15  # as many as gpu_bench takes
_DESCRIPTION = f"""\
Runs the training steps that `gpu_bench --steps` has printed with their sizes, in PyTorch on the same
GPU: eager, with its own attention, in bfloat16 by autocast with float32 master weights. Prints a line of
JSON for each with its time. If python has no PyTorch, or PyTorch finds no GPU, the last line has the reason,
and the exit status is {LEFT_OUT}."""


def why_not() -> str:
    """The reason that PyTorch cannot be measured here, or None."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        return f"PyTorch cannot be imported ({error})"
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} finds no GPU that it can use"
    return ""


def step_seconds(sizes: dict, device: str, turns: int = _TURNS) -> float:
    """The median time of a step on one batch of random tokens."""
    import torch  # pylint: disable=import-outside-toplevel

    from peers.torch_llama import LlamaShape, LlamaStep  # pylint: disable=import-outside-toplevel
    shape = LlamaShape(**{field.name: sizes[field.name] for field in fields(LlamaShape)})
    step = LlamaStep(shape, TRAINING, device)
    ids, labels = torch.randint(shape.vocab, (2, sizes["batch"], shape.seq_len), device=device)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    seconds = []
    for _ in range(_WARM_UP + turns):
        wait()
        begin = time.perf_counter()
        step.step(ids, labels)
        wait()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[_WARM_UP:])


def row_of(row: dict) -> dict:
    """PyTorch's time for a row of gpu_bench, or the reason that it has none."""
    import torch  # pylint: disable=import-outside-toplevel
    try:
        return {"what": row["what"], "beside_us": step_seconds(row["sizes"], "cuda") * 1e6}
    except torch.OutOfMemoryError as error:
        return {"what": row["what"], "note": f"PyTorch: {str(error).splitlines()[0]}"}


def rows_to_take(log: Path) -> list[dict]:
    """Rows of gpu_bench with sizes and a time of ours, of a log that may have other lines."""
    rows = []
    for line in log.read_text("utf-8", errors="replace").splitlines() if log.exists() else ():
        try:
            row = json.loads(line) if line.startswith("{") else {}
        except ValueError:
            continue
        if row.get("sizes") and row.get("ours_us"):
            rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/torch_on_gpu", description=_DESCRIPTION)
    parser.add_argument("log", type=Path, help="output of gpu_bench --steps")
    rows = rows_to_take(parser.parse_args().log)
    if reason := why_not() if rows else "gpu_bench has timed no steps to compare with":
        print(reason)
        return LEFT_OUT
    for row in rows:
        print(json.dumps(row_of(row)), flush=True)
    return 0
