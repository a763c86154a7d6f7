// Placeholders: tensors that have a shape, a dtype and an identity, and no bytes.
//
//   Tensor x = phi::placeholder({8, 1024}, DataType::FLOAT32, CPUPlace());
//   Tensor w = phi::distributed::placeholder({1024, 4096}, DataType::FLOAT32, mesh, {Shard(1)});
//
// In a dry run every operator takes them and gives others. Elsewhere an operator that reads one
// fails, and says which argument it was.
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi {

/// shape: as given, 0 bytes. Errors: InvalidArgument for negative extents; reading it is
/// PreconditionNotMet, with its number, shape and reason.
Tensor placeholder(const Dims& shape, DataType dtype, const Place& place);

/// item() of x; in a dry run, where nothing has a value, `otherwise`.
double item_or(const Tensor& x, double otherwise);

namespace distributed {

/// shape: global; missing placements are Replicate(). Errors: as phi::placeholder; InvalidArgument
/// for placements that do not fit the shape.
Tensor placeholder(const Dims& shape, DataType dtype, const ProcessMesh& mesh,
                   std::span<const Placement> placements);
inline Tensor placeholder(const Dims& shape, DataType dtype, const ProcessMesh& mesh,
                          std::initializer_list<Placement> placements) {
  return placeholder(shape, dtype, mesh, std::span(placements.begin(), placements.size()));
}

}  // namespace distributed
}  // namespace phi
