// Builds distributed tensors from the parts of ranks, and returns this rank's part.
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi::distributed {

/// Builds a distributed tensor from each rank's own part, for example partial values or data that
/// each rank reads itself. Gradients pass to the parts.
///
/// Errors   InvalidArgument if `local` does not have the shape of this rank's part of
///          `global_shape`.
Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements);

/// from_local without the global shape: ranks exchange the sizes of their parts. Sizes add up along
/// a mesh dim that shards a tensor dim, and are equal along the others.
///
/// Input    `local` may be undefined on a rank outside the mesh, where it is ignored.
/// Grads    Pass to the parts.
/// Ranks    Collective over the job (one control-sized message). In a dry run, where messages carry
///          nothing, every rank is assumed to hold as much as this one.
/// Errors   InvalidArgument, the same on every rank, if the parts are not the balanced split of any
///          shape (the first ranks hold one element more), differ in dtype or ndim, or require a
///          gradient on some ranks only. Unimplemented while a program is captured.
Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                          std::span<const Placement> placements);
inline Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                                 std::initializer_list<Placement> placements) {
  return dtensor_from_local(local, mesh, std::span(placements.begin(), placements.size()));
}

/// Returns this rank's part of reshard(x, mesh, placements), as Tensor::local does; its comment
/// states when gradients pass through.
///
/// Ranks    The same as reshard.
Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                        std::span<const Placement> placements);
inline Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                               std::initializer_list<Placement> placements) {
  return dtensor_to_local(x, mesh, std::span(placements.begin(), placements.size()));
}

}  // namespace phi::distributed
