"""Distributed tensors created by functions."""

from collections.abc import Callable, Sequence
from typing import Any

from autophi._autophi import Placement, ProcessMesh, Tensor
from autophi._autophi.distributed import shard_tensor


def dtensor_from_fn(fn: Callable[..., Any], mesh: ProcessMesh | None, placements: Sequence[Placement], *args: Any,
                    **kwargs: Any) -> Tensor:
    """Return shard_tensor(fn(*args, **kwargs), mesh, placements). `mesh`: None for the default mesh of set_mesh."""
    return shard_tensor(fn(*args, **kwargs), mesh, placements)
