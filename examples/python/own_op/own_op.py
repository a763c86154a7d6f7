"""A custom operator from Python: own_op.py LIBRARY checks it on all placements, then uses it.

LIBRARY is what the CMakeLists.txt beside this builds: libown_ops.so.
"""

import sys

import autophi as ap
import autophi.distributed as dist
from autophi import spmd, testing
from autophi.distributed import ProcessMesh, Shard


def check():
    """Compare results and gradients on every placement with one process, and gradients with finite differences."""
    x = ap.gaussian([6, 8], seed=1)
    report = testing.check_op(lambda x: ap.soft_knee(x, threshold=0.3, slope=0.2), x, name="soft_knee")
    print(f"soft_knee: {report}")


def use():
    """Call the operator as a function and as a method, infer its placements, and run it on a sharded tensor."""
    x = ap.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = x.soft_knee(slope=0.5)  # type: ignore[attr-defined]  # no stub knows what is loaded
    y.sum().backward()
    assert x.grad is not None
    print("gradient", x.grad.tolist())
    mesh = ProcessMesh([0, 1], dim_names=["x"])
    print(spmd.infer("soft_knee", ([4, 4], [Shard(0)]), mesh=mesh))
    split = dist.run_ranks(2, lambda: ap.soft_knee(dist.shard_tensor(ap.ones([4, 4]), mesh, [Shard(0)])).sharding)
    print("split:", split[0])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    print("loaded", ap.load_ops(sys.argv[1]))
    check()
    use()


if __name__ == "__main__":
    main()
