"""One rank of PyTorch's side: trains the reference GPT and writes the results of rank 0 as JSON.

    python -m peers.torch_rank JOB.json

JOB.json: {layout, dtype, threads, compiled, steps, paths, rendezvous, report}. RANK and WORLD_SIZE
identify the process. The report: {losses, step_seconds, import_peak_bytes}; a step's seconds run from
reading the batch to updated parameters.
"""

import importlib
import json
import os
import sys
import time

import torch
import torch.distributed as dist

from peers.byte_data import read_text, window_offsets
from peers.rank import peak_bytes
from peers.reference import GPT, TRAINING

_RANK = int(os.environ.get("RANK", "0"))
_WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))


def batch_of(text: bytes, step: int):
    """ids and labels of the global batch, int64 [global_batch, seq_len]."""
    count = TRAINING.global_batch
    starts = window_offsets(len(text), GPT.seq_len, TRAINING.data_seed, step * count, count)
    windows = bytearray().join(text[at:at + GPT.seq_len + 1] for at in starts)
    tokens = torch.frombuffer(windows, dtype=torch.uint8).view(count, -1).long()
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


_LAYOUTS = {"single": "Single", "dp": "DataParallel", "tp": "TensorParallel", "pp": "Pipeline"}


def layout_class(name: str):
    """Imports only what this layout needs: imports count in the peak memory."""
    return getattr(importlib.import_module(f"peers.torch_{name}"), _LAYOUTS[name])


def train(job: dict, layout_type) -> tuple[list[float], list[float]]:
    """This rank's losses (NaN where it has none) and the seconds of each step."""
    layout = layout_type(GPT, TRAINING, job["compiled"], job["dtype"] == "bfloat16")
    text = read_text(job["paths"])
    losses, seconds = [], []
    for step in range(job["steps"]):
        begin = time.perf_counter()
        loss = layout.step(*batch_of(text, step))
        losses.append(float("nan") if loss is None else loss.item())
        seconds.append(time.perf_counter() - begin)
    return losses, seconds


def mean_over_ranks(losses: list[float]) -> list[float]:
    """Means over the ranks that have a loss."""
    own = torch.tensor(losses, dtype=torch.float64)
    sums = torch.stack([own.nan_to_num(), (~own.isnan()).double()])
    if _WORLD_SIZE > 1:
        dist.all_reduce(sums)
    return (sums[0] / sums[1]).tolist()


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    layout_type = layout_class(job["layout"])
    import_peak = peak_bytes(os.getpid())
    torch.set_num_threads(job["threads"])
    if _WORLD_SIZE > 1:
        dist.init_process_group("gloo", init_method=f"file://{job['rendezvous']}", rank=_RANK,
                                world_size=_WORLD_SIZE)
    losses, seconds = train(job, layout_type)
    losses = mean_over_ranks(losses)
    if _RANK == 0:
        with open(job["report"], "w", encoding="utf-8") as file:
            json.dump({"losses": losses, "step_seconds": seconds, "import_peak_bytes": import_peak},
                      file)
    if _WORLD_SIZE > 1:
        dist.barrier()  # nobody leaves while another is still sending
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
