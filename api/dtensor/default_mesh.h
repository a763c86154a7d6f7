// The default mesh of a rank, for calls that name no mesh.
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi::distributed {

/// Sets this rank's default mesh, for calls without a mesh. Set the same mesh on every rank. An
/// undefined mesh removes the default.
void set_mesh(const ProcessMesh& mesh);
/// Errors: PreconditionNotMet if no mesh is set; query has_mesh() first.
ProcessMesh get_mesh();
bool has_mesh();

/// Overloads that use the mesh get_mesh().
Tensor shard_tensor(const Tensor& x, std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, std::initializer_list<Placement> placements) {
  return shard_tensor(x, std::span(placements.begin(), placements.size()));
}
Tensor reshard(const Tensor& x, std::span<const Placement> placements);
inline Tensor reshard(const Tensor& x, std::initializer_list<Placement> placements) {
  return reshard(x, std::span(placements.begin(), placements.size()));
}

}  // namespace phi::distributed
