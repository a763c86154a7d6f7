"""The calls in Paddle."""

import paddle
from paddle import distributed

VERSION = f"Paddle {paddle.__version__}"


def calls():
    paddle.set_device("cpu")
    x, y, written, rows = (paddle.ones([n, 8]) for n in (8, 8, 8, 64))
    leaf = paddle.ones([8, 8])
    leaf.stop_gradient = False
    here = distributed.ProcessMesh([0], dim_names=["x"])
    a, b = (distributed.shard_tensor(paddle.ones([8, 8]), here, [distributed.Shard(0)]) for _ in range(2))
    w = distributed.shard_tensor(paddle.ones([8, 8]), here, [distributed.Replicate()])
    elsewhere = distributed.ProcessMesh([1, 2], dim_names=["x"])
    far = distributed.shard_tensor(paddle.ones([8, 8]), elsewhere, [distributed.Shard(0)])
    far_w = distributed.shard_tensor(paddle.ones([8, 8]), elsewhere, [distributed.Replicate()])
    return {
        "add": lambda: paddle.add(x, y),
        "x + y": lambda: x + y,
        "matmul": lambda: paddle.matmul(x, y),
        "x + 1.5": lambda: x + 1.5,
        "x += y": lambda: written.add_(y),
        "x[3]": lambda: rows[3],
        "x[2:5, 1:3]": lambda: rows[2:5, 1:3],
        "sum": lambda: paddle.sum(x),
        "add, tracked": lambda: paddle.add(leaf, y),
        "distributed add": lambda: paddle.add(a, b),
        "distributed matmul": lambda: paddle.matmul(a, w),
        "clipped matmul": lambda: paddle.matmul(far, far_w),
    }
