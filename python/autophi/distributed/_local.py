"""Ranks that are threads of this process, for tests, notebooks and debuggers."""

from collections.abc import Callable
from typing import Any, TypeVar

from autophi._autophi import distributed as _distributed

_R = TypeVar("_R")


def run_ranks(n: int, function: Callable[..., _R], *args: Any, deadline: float = 60.0) -> list[_R]:
    """Run function(*args) on `n` ranks and return their results, a list by rank.

        def part():
            mesh = dist.ProcessMesh(range(dist.world_size()))
            return dist.shard_tensor([1., 2., 3., 4.], mesh, [dist.Shard(0)]).local().tolist()
        run_ranks(2, part)                                       # [[1.0, 2.0], [3.0, 4.0]]

    Each rank is a thread with its own world; variables outside the function are shared. If it raises on one rank, the
    calls of the others end too, and the exception is raised here with its traceback and a note that names the rank.
    `deadline`: seconds that a rank waits for others in one call.
    """
    return _distributed.run_ranks(n, function, args, deadline=deadline)
