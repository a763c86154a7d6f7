"""Meshes, placements and distributed tensors, with the names of paddle.distributed.

    import autophi.distributed as dist
    mesh = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])
    w = dist.shard_tensor(w, mesh, [dist.Replicate(), dist.Shard(1)])

Ranks are the processes of `mpirun -n 4 python program.py`, which calls init() first, or threads of one
process: run_ranks(4, function).
"""

from autophi._autophi import Partial, Placement, ProcessMesh, Replicate, Shard
from autophi._autophi.distributed import (PendingTensor, Schedule, backend, barrier, counters, dtensor_from_local,
                                          dtensor_to_local, get_mesh, picture, rank, reshard, schedule_kinds,
                                          set_mesh, shard_tensor, start_reshard, unshard_dtensor, use_gpu, world_size)
from autophi.distributed._job import finalize, init, is_initialized
from autophi.distributed._local import run_ranks
from autophi.distributed._tensors import dtensor_from_fn
from autophi.distributed._training import (ShardingStage1, ShardingStage2, ShardingStage3, load_state_dict,
                                           save_state_dict, shard_dataloader, shard_layer, shard_optimizer)

__all__ = ["Partial", "PendingTensor", "Placement", "ProcessMesh", "Replicate", "Schedule", "Shard",
           "ShardingStage1", "ShardingStage2", "ShardingStage3", "backend", "barrier", "counters",
           "dtensor_from_fn", "dtensor_from_local", "dtensor_to_local", "finalize", "get_mesh", "init",
           "is_initialized", "load_state_dict", "picture", "rank", "reshard", "run_ranks", "save_state_dict",
           "schedule_kinds", "set_mesh", "shard_dataloader", "shard_layer", "shard_optimizer", "shard_tensor",
           "start_reshard", "unshard_dtensor", "use_gpu", "world_size"]
