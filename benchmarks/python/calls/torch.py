"""The calls in PyTorch, distributed ones in its DTensor."""

import torch
from torch import distributed
from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor

VERSION = f"PyTorch {torch.__version__}"


def calls():
    torch.set_num_threads(1)
    x, y, written, rows = torch.ones(8, 8), torch.ones(8, 8), torch.ones(8, 8), torch.ones(64, 8)
    leaf = torch.ones(8, 8, requires_grad=True)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    mesh = DeviceMesh("cpu", [0])
    a, b = (distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)]) for _ in range(2))
    w = distribute_tensor(torch.ones(8, 8), mesh, [Replicate()])
    return {
        "add": lambda: torch.add(x, y),
        "x + y": lambda: x + y,
        "matmul": lambda: torch.matmul(x, y),
        "x + 1.5": lambda: x + 1.5,
        "x += y": lambda: written.add_(y),
        "x[3]": lambda: rows[3],
        "x[2:5, 1:3]": lambda: rows[2:5, 1:3],
        "sum": lambda: torch.sum(x),
        "add, tracked": lambda: torch.add(leaf, y),
        "distributed add": lambda: torch.add(a, b),
        "distributed matmul": lambda: torch.matmul(a, w),
    }
