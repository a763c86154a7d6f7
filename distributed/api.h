// The public distributed API: joining a job, meshes, placements, and sharding and resharding
// tensors. Each header that it includes lies beside its implementation.
//
//   distributed::init(&argc, &argv);
//   ProcessMesh stage0({2}, {"tp"}, {0, 1}), stage1({2}, {"tp"}, {2, 3});
//   Tensor w = shard_tensor(deferred_gaussian({1024, 4096}, 0, 0.02f, 1), stage0, {Shard(1)});
//   Tensor h = reshard(x, stage1, {Replicate()});
#pragma once

#include "api/dtensor/default_mesh.h"
#include "api/dtensor/gpu.h"
#include "api/dtensor/job.h"
#include "api/dtensor/local_parts.h"
#include "api/dtensor/reshard.h"
#include "api/dtensor/shard_tensor.h"
#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"
