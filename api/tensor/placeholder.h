// Placeholders: tensors that have a shape, a dtype and an identity, and no bytes.
//
//   Tensor x = phi::placeholder({8, 1024}, DataType::FLOAT32, CPUPlace());
//   Tensor w = phi::distributed::placeholder({1024, 4096}, DataType::FLOAT32, mesh, {Shard(1)});
//
// In a dry run every operator accepts placeholders and returns placeholders. Outside a dry run, an
// operator that reads one fails with an error that names the argument.
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi {

/// Returns a plain tensor of this shape with 0 bytes. Errors: InvalidArgument for negative extents.
/// Reading the tensor is PreconditionNotMet; the message has its storage id, shape and reason.
Tensor placeholder(const Dims& shape, DataType dtype, const Place& place);

/// Returns x.item(), or `otherwise` in a dry run, where no tensor has a value.
double item_or(const Tensor& x, double otherwise);

namespace distributed {

/// Returns a distributed tensor of global shape `shape` with 0 bytes on every rank. Missing
/// placements are Replicate(). Errors: those of phi::placeholder; InvalidArgument for placements
/// that do not fit the shape.
Tensor placeholder(const Dims& shape, DataType dtype, const ProcessMesh& mesh,
                   std::span<const Placement> placements);
inline Tensor placeholder(const Dims& shape, DataType dtype, const ProcessMesh& mesh,
                          std::initializer_list<Placement> placements) {
  return placeholder(shape, dtype, mesh, std::span(placements.begin(), placements.size()));
}

}  // namespace distributed
}  // namespace phi
