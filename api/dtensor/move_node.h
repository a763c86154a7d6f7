// Helpers of shard_tensor and reshard: the distributed attribute of a move, and its gradient node.
#pragma once

#include <span>

#include "api/autograd/grad_node.h"
#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/dist_attr.h"
#include "distributed/placement/placement.h"

namespace phi::distributed {

/// Returns the distributed attribute of a move and reports x to the recorder. Every move of a
/// handle calls it first. Errors: InvalidArgument if the placements do not fit x's shape.
const TensorDistAttr* attr_of_move(const Tensor& x, const ProcessMesh& mesh,
                                   std::span<const Placement> placements);

/// Whether the move only changes Shard to Replicate. Its input then has the result's value in fewer
/// bytes.
bool is_gather(const Tensor& from, const TensorDistAttr* to);

/// Gives `to`, which moved from `from`, a node whose backward reshards the gradient to the form of
/// `from`. If the move is a gather, the node can recompute `to` from `from`.
void track_move(const char* name, const Tensor& from, Tensor& to, bool gathers);

/// Returns `to`, tracked if `from` requires a gradient.
Tensor tracked_move(const char* name, const Tensor& from, Tensor to);

}  // namespace phi::distributed
