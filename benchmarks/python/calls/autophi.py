"""The calls in this library."""

import autophi as ap
import autophi.distributed as dist
import numpy

VERSION = f"Autophi {ap.__version__}"


def run(body):
    """Runs as rank 0 of two; rank 1 has ended when calls are timed."""
    dist.run_ranks(2, lambda: body() if dist.rank() == 0 else calls())


def calls():
    def ones(*shape):
        return ap.tensor(numpy.ones(shape, numpy.float32))

    x, y, written, rows = ones(8, 8), ones(8, 8), ones(8, 8), ones(64, 8)
    leaf = ap.tensor(numpy.ones((8, 8), numpy.float32), requires_grad=True)
    here = dist.ProcessMesh([0], dim_names=["x"])
    a, b = (dist.shard_tensor(ones(8, 8), here, [dist.Shard(0)]) for _ in range(2))
    w = dist.shard_tensor(ones(8, 8), here, [dist.Replicate()])
    # This rank has nothing of a tensor on it: calls decide that and end.
    elsewhere = dist.ProcessMesh([1], dim_names=["x"])
    far = dist.shard_tensor(ones(8, 8), elsewhere, [dist.Shard(0)])
    far_w = dist.shard_tensor(ones(8, 8), elsewhere, [dist.Replicate()])
    return {
        "add": lambda: ap.add(x, y),
        "x + y": lambda: x + y,
        "matmul": lambda: ap.matmul(x, y),
        "x + 1.5": lambda: x + 1.5,
        "x += y": lambda: written.add_(y),
        "x[3]": lambda: rows[3],
        "x[2:5, 1:3]": lambda: rows[2:5, 1:3],
        "sum": lambda: ap.sum(x),
        "add, tracked": lambda: ap.add(leaf, y),
        "distributed add": lambda: ap.add(a, b),
        "distributed matmul": lambda: ap.matmul(a, w),
        "clipped matmul": lambda: ap.matmul(far, far_w),
    }
