"""Measures the rate of one core in a square matmul, as the scale for utilisation.

    python -m peers.torch_gemm FILE.json    # {dtype: operations per second}

The matmul is 2048 x 2048, or smaller where a processor would take longer than its time for it: one without
bfloat16 instructions may have a thousandth of another's rate.
"""

import json
import sys
import time

import torch

_SIZES = (256, 512, 1024, 2048)
_REPEATS = 7
_SECONDS = 15.0  # of a dtype


def _operations(size: int) -> int:
    return 2 * size**3


def flops_per_s(dtype: torch.dtype) -> float:
    """The fastest repeat's rate, a peak, of the largest size whose repeats fit into the remaining time,
    estimated from the size before it."""
    left = _SECONDS
    rate = 0.0
    for size in _SIZES:
        if rate and (1 + _REPEATS) * _operations(size) > left * rate:
            break
        begin = time.perf_counter()
        rate = _rate_at(size, dtype)
        left -= time.perf_counter() - begin
    return rate


def _rate_at(size: int, dtype: torch.dtype) -> float:
    x = torch.randn(size, size).to(dtype)
    out = torch.mm(x, x)
    seconds = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        torch.mm(x, x, out=out)
        seconds.append(time.perf_counter() - begin)
    return _operations(size) / min(seconds)


if __name__ == "__main__":
    torch.set_num_threads(1)
    rates = {name: flops_per_s(getattr(torch, name)) for name in ("float32", "bfloat16")}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(rates, out)
