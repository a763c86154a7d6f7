// Reshard: moving a tensor to another placement and/or mesh, and the two ends of that: taking a
// rank's part of a whole value, and putting the whole value together again.
//
//   DistTensor y = reshard(x, TensorDistAttr::get(mesh, {Replicate(), Shard(1)}));
#pragma once

#include "distributed/tensor/dist_tensor.h"

namespace phi::distributed {

/// `src` under `dst`, moved by the cheapest known sequence of collectives (plan_reshard).
///
/// Ranks    Called by every rank that has `src`, in or out of the meshes. A rank in neither mesh
///          communicates nothing; a rank outside dst's mesh returns a clipped tensor, and sends
///          first if it is in src's mesh.
/// Aliasing Equal attrs return `src`; a rank whose part does not change may share its storage.
/// Uneven   Any extents, also smaller than the mesh and 0.
/// Errors   InvalidArgument, alike on all ranks and before any communication, if an attr does not
///          fit the shape or a tensor dim is unknown.
DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst);

/// This rank's part of `global`, which every rank of the mesh has; no communication. Where `attr`
/// is partial the first coordinate keeps the value and the others get the identity element.
DistTensor distribute(const DenseTensor& global, const TensorDistAttr* attr);

/// The whole value, on every rank of the mesh. Errors: PreconditionNotMet on other ranks.
DenseTensor gather_global(const DistTensor& x);

}  // namespace phi::distributed
