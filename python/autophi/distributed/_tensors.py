"""Distributed tensors made by functions."""

from autophi._autophi.distributed import shard_tensor


def dtensor_from_fn(fn, mesh, placements, *args, **kwargs):
    """shard_tensor(fn(*args, **kwargs), mesh, placements). `mesh`: None for that of set_mesh."""
    return shard_tensor(fn(*args, **kwargs), mesh, placements)
