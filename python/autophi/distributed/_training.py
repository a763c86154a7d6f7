"""Models, optimizers, data and checkpoints on meshes, with the names of Paddle."""

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
    """Call nn.shard(layer, mesh, layout) and return the layer.

    Paddle takes a function that shards each sublayer; here a layout shards them by name.
    """
    _nn.shard(layer, mesh, layout)
    return layer


class ShardingStage(NamedTuple):
    """Sharding of optimizer states: ZeRO stage 1, 2 or 3, over a mesh dim."""
    stage: int
    mesh_dim: str


def ShardingStage1(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802: Paddle's name
    """Shard optimizer states over a mesh dim."""
    return ShardingStage(1, mesh_dim)


def ShardingStage2(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802
    """Shard optimizer states and gradients over a mesh dim."""
    return ShardingStage(2, mesh_dim)


def ShardingStage3(mesh_dim: str = "dp") -> ShardingStage:  # noqa: N802
    """Shard optimizer states, gradients and parameters over a mesh dim.

    The layout of the model must have the same stage (Layout.zero).
    """
    return ShardingStage(3, mesh_dim)


def shard_optimizer(optimizer: _Optimizer, sharding: ShardingStage | None = None) -> _Optimizer:
    """Shard the states of the optimizer and return it. Call it before its first step.

    `sharding`: ShardingStage1(), ..; None: as in the model's layout.
    """
    if sharding is not None:
        optimizer.shard_states(sharding.stage, sharding.mesh_dim)
    return optimizer


class _ShardedLoader:
    """Batches of a loader, with each tensor sharded over a mesh."""

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
    """Return an iterable of the loader's batches with sharded tensors, also in lists, tuples and dicts.

    Tensors are Shard(0) along the mesh dims `shard_dims` (a name, or several). Pass the same batch on every rank. Of
    deferred tensors, such as those of data.TokenData, each rank reads its shard only.
    """
    names = [shard_dims] if isinstance(shard_dims, str) else list(shard_dims)
    unknown = [name for name in names if name not in mesh.dim_names]
    if unknown:
        raise ValueError(f"shard_dataloader: {mesh} has no mesh dim {', '.join(unknown)}")
    return _ShardedLoader(loader, mesh, [Shard(0) if name in names else Replicate() for name in mesh.dim_names])


def save_state_dict(state_dict: Mapping[str, Tensor], path: str | os.PathLike[str], *,
                    metadata: Mapping[str, str] | None = None) -> None:
    """Write the tensors of a dict to a folder. Collective: each rank writes its shards, each shard once."""
    _checkpoint.save(path, state_dict, metadata=metadata)


def load_state_dict(state_dict: Mapping[str, Tensor], path: str | os.PathLike[str]) -> None:
    """Fill the tensors of a dict from a folder that was written on any mesh.

    Each tensor keeps its dtype and placements. ValueError lists all mismatches. Other tensors in the folder are
    ignored.
    """
    _checkpoint.load(path, state_dict, extras=True)
