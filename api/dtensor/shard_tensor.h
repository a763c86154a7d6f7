// Shards a tensor over a mesh.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi::distributed {

/// Shards a tensor over a mesh: one placement per mesh dim; missing ones are Replicate().
///
/// Shapes   x: [d0, ..., dn-1]; the result has the same global shape and dtype.
/// Input    A plain tensor is the whole value, equal on every rank of the mesh. Each rank extracts
///          its shard locally, without communication. A deferred tensor is never materialised
///          unsharded. A distributed tensor is resharded. Partial(kind): the first rank along the
///          mesh dim has the value, the others the identity element.
/// Aliases  The same as reshard: a write to x or to the result does not change the other.
/// Ranks    Call it on every rank. Outside the mesh the result holds no bytes.
/// Errors   InvalidArgument: more placements than mesh dims, or Shard(d) where x has no dim d.
Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                           std::initializer_list<Placement> placements) {
  return shard_tensor(x, mesh, std::span(placements.begin(), placements.size()));
}

/// Returns shard_tensor(fn(args...), mesh, placements). If fn returns a deferred tensor
/// (deferred_full, deferred_gaussian, an nn::Initialiser), each rank initialises its own part only.
/// An operator such as phi::full allocates the whole value first.
///
///   Tensor b = dtensor_from_fn(deferred_full, mesh, {Shard(0)}, Dims{8}, 1, DataType::FLOAT32);
template <typename Fn, typename... Args>
Tensor dtensor_from_fn(Fn&& fn, const ProcessMesh& mesh, std::span<const Placement> placements,
                       Args&&... args) {
  return shard_tensor(std::forward<Fn>(fn)(std::forward<Args>(args)...), mesh, placements);
}
template <typename Fn, typename... Args>
Tensor dtensor_from_fn(Fn&& fn, const ProcessMesh& mesh,
                       std::initializer_list<Placement> placements, Args&&... args) {
  return dtensor_from_fn(std::forward<Fn>(fn), mesh,
                         std::span(placements.begin(), placements.size()),
                         std::forward<Args>(args)...);
}

}  // namespace phi::distributed
