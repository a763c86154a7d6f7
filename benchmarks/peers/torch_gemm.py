"""Measures what one core reaches in a matmul of 2048 x 2048, as the scale for utilisation.

    python -m peers.torch_gemm FILE.json    # {dtype: operations per second}
"""

import json
import sys
import time

import torch

_SIZE = 2048
_REPEATS = 7


def flops_per_s(dtype: torch.dtype) -> float:
    """The fastest repeat's rate: a peak."""
    x = torch.randn(_SIZE, _SIZE).to(dtype)
    out = torch.mm(x, x)
    seconds = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        torch.mm(x, x, out=out)
        seconds.append(time.perf_counter() - begin)
    return 2 * _SIZE**3 / min(seconds)


if __name__ == "__main__":
    torch.set_num_threads(1)
    rates = {name: flops_per_s(getattr(torch, name)) for name in ("float32", "bfloat16")}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(rates, out)
