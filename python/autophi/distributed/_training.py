"""Models, optimizers, data and checkpoints on meshes, in Paddle's words."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple, TypeVar, cast

from autophi import checkpoint as _checkpoint
from autophi import nn as _nn
from autophi._autophi import Placement, ProcessMesh, Replicate, Shard, Tensor
from autophi._autophi.distributed import shard_tensor
from autophi.optim import Optimizer

_Module = TypeVar("_Module", bound=_nn.Module)
_Optimizer = TypeVar("_Optimizer", bound=Optimizer)


def shard_layer(layer: _Module, mesh: ProcessMesh | None, layout: _nn.Layout) -> _Module:
    """nn.shard(layer, mesh, layout), and gives the layer back. Where Paddle takes a function that shards each
    sublayer, a layout says it by names."""
    _nn.shard(layer, mesh, layout)
    return layer


class ShardingStage(NamedTuple):
    """How the states of an optimizer are split: ZeRO stage 1, 2 or 3, over a mesh dim."""
    stage: int
    mesh_dim: str


def ShardingStage1(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802: Paddle's name
    """Optimizer states are split over a mesh dim."""
    return ShardingStage(1, mesh_dim)


def ShardingStage2(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802
    """Optimizer states and gradients are."""
    return ShardingStage(2, mesh_dim)


def ShardingStage3(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802
    """Parameters are, too: the layout of the model must have said so (Layout.zero)."""
    return ShardingStage(3, mesh_dim)


def shard_optimizer(optimizer: _Optimizer, sharding: ShardingStage | None = None) -> _Optimizer:
    """The optimizer, with states that lie like the parameters, or split as `sharding` says (ShardingStage1(), ..;
    None: as the model's layout says). Before its first step."""
    if sharding is not None:
        optimizer.shard_states(sharding.stage, sharding.mesh_dim)
    return optimizer


class _ShardedLoader:
    """Batches of a loader, each tensor laid out on a mesh."""

    def __init__(self, loader: Iterable[Any], mesh: ProcessMesh, placements: Sequence[Placement]) -> None:
        self._loader, self._mesh, self._placements = loader, mesh, placements

    def __len__(self) -> int:
        return len(cast(Sized, self._loader))

    def __iter__(self) -> Iterator[Any]:
        for batch in self._loader:
            yield self._laid_out(batch)

    def _laid_out(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return shard_tensor(value, self._mesh, self._placements)
        if isinstance(value, dict):
            return {key: self._laid_out(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._laid_out(each) for each in value)
        return value


def shard_dataloader(loader: Iterable[Any], mesh: ProcessMesh,
                     shard_dims: str | Sequence[str] = "dp") -> _ShardedLoader:
    """An iterable of the loader's batches whose tensors (in lists, tuples, dicts) are Shard(0) along the mesh dims
    `shard_dims` (a name, or several), the same batch being given on every rank. Deferred ones, as those of
    data.TokenData, are read by each rank in part."""
    names = [shard_dims] if isinstance(shard_dims, str) else list(shard_dims)
    unknown = [name for name in names if name not in mesh.dim_names]
    if unknown:
        raise ValueError(f"shard_dataloader: {mesh} has no mesh dim {', '.join(unknown)}")
    return _ShardedLoader(loader, mesh, [Shard(0) if name in names else Replicate() for name in mesh.dim_names])


def save_state_dict(state_dict: Mapping[str, Tensor], path: str | os.PathLike[str], *,
                    metadata: Mapping[str, str] | None = None) -> None:
    """Writes the tensors of a dict to a folder: collective, each rank its shards, each shard once."""
    _checkpoint.save(path, state_dict, metadata=metadata)


def load_state_dict(state_dict: Mapping[str, Tensor], path: str | os.PathLike[str]) -> None:
    """Fills the tensors of a dict from a folder that any mesh has written; each keeps its dtype and placements.
    ValueError that lists all that does not fit. What else is in the folder is passed over."""
    _checkpoint.load(path, state_dict, extras=True)
