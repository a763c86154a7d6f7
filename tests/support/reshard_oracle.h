// What a reshard has to give, by brute force: values of every rank, reductions by nested loops.
//
// The oracle knows nothing of plans, boxes or collectives: it evaluates the meaning of an attr.
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "distributed/tensor/dist_tensor.h"

namespace phi::distributed::testing {

/// The value that rank `rank` holds of a tensor whose parts are made up: small integers, different
/// on every rank of partial mesh dims, equal on replicas.
DenseTensor made_up_local(const Dims& shape, DataType dtype, const TensorDistAttr* attr,
                          int64_t rank);

/// The whole value of that tensor in double, reductions evaluated from the innermost partial mesh
/// dim outwards.
std::vector<double> made_up_whole(const Dims& shape, DataType dtype, const TensorDistAttr* attr);

/// What an element is worth to the rank at `coord`: `value_at` of all who differ from it in partial
/// mesh dims alone, reduced from the innermost partial mesh dim outwards.
using ValueAt = std::function<double(const MeshCoord&)>;
double reduced(const TensorDistAttr& attr, const MeshCoord& coord, const ValueAt& value_at);
/// The same of a complex number, which has no order.
using ComplexAt = std::function<std::complex<double>(const MeshCoord&)>;
std::complex<double> reduced_complex(const TensorDistAttr& attr, const MeshCoord& coord,
                                     const ComplexAt& value_at);

/// The elements as doubles; of complex ones the real part, then the imaginary.
std::vector<double> as_doubles(const DenseTensor& x);
/// `box` of a whole value of the given shape.
std::vector<double> cut(const std::vector<double>& whole, const Dims& shape, const Box& box);

/// Every list of `mesh_ndim` placements out of `choices`.
std::vector<std::vector<Placement>> all_placements(int mesh_ndim,
                                                   const std::vector<Placement>& choices);

struct ReshardCase {
  const TensorDistAttr* src;
  const TensorDistAttr* dst;
  Dims shape;
};
/// Seeded random meshes out of `world_size` ranks, placements, orders and shapes.
std::vector<ReshardCase> random_reshards(int64_t world_size, int count, unsigned seed);

/// The made-up tensor of `attr` as the calling rank holds it.
DistTensor made_up_tensor(const Dims& shape, DataType dtype, const TensorDistAttr* attr);

/// Checks `y`, which is made_up_tensor(shape, dtype, src) resharded to `dst`: the attr, the local
/// dims, the clipping, the values (of partial results: reduced by the oracle over all ranks).
/// Collective over the world; failures are recorded with gtest.
void check_resharded(const DistTensor& y, const TensorDistAttr* src, const TensorDistAttr* dst,
                     const Dims& shape, DataType dtype = DataType::FLOAT32);

/// Reshards the made-up tensor and checks it, and the bytes that were moved against the plan.
void check_reshard(const TensorDistAttr* src, const TensorDistAttr* dst, const Dims& shape,
                   DataType dtype = DataType::FLOAT32);

}  // namespace phi::distributed::testing
