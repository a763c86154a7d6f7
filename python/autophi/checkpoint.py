"""Named tensors on disk, saved by all ranks together and loaded onto any mesh.

    checkpoint.save("ckpt", {"w": w, "b": b})
    w = dist.shard_tensor(checkpoint.open("ckpt").tensor("w"), mesh, [dist.Shard(0)])    # reads its shard
"""

import os
from collections.abc import Mapping

from autophi import _autophi
from autophi._autophi import Tensor
from autophi._autophi.checkpoint import Checkpoint, PendingSave, open  # noqa: A004: as the C++ says it

_checkpoint = _autophi.checkpoint


def save(folder: str | os.PathLike[str], tensors: Mapping[str, Tensor], *,
         metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors, a dict by name, to `folder`: safetensors files and an index.

    Collective: each rank writes shards that it stores, each shard once. After a crash, the folder contains the old
    checkpoint or the new one. `metadata`: texts that are stored with the checkpoint. ValueError for a partial tensor.
    """
    _checkpoint.save(str(folder), list(tensors.items()), metadata=metadata or {})


def start_save(folder: str | os.PathLike[str], tensors: Mapping[str, Tensor], *,
               metadata: Mapping[str, str] | None = None) -> PendingSave:
    """Start a save() that writes while training continues. Call poll() between steps, or wait()."""
    return _checkpoint.start_save(str(folder), list(tensors.items()), metadata=metadata or {})


def load(checkpoint: Checkpoint | str | os.PathLike[str], tensors: Mapping[str, Tensor], *,
         extras: bool = False) -> None:
    """Fill tensors, a dict by name, with the values of a checkpoint or of its folder.

    Each tensor keeps its dtype and placements. ValueError lists all tensors that are missing, have another shape, or,
    without `extras`, are in the checkpoint only.
    """
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = open(str(checkpoint))
    _checkpoint.load(checkpoint, list(tensors.items()), extras=extras)


__all__ = ["Checkpoint", "PendingSave", "load", "open", "save", "start_save"]
