// A tensor's value apart from how it lies on a mesh: taken apart to what each rank holds, and put
// together again, by the meaning of placements alone (support/reshard_oracle.h).
#pragma once

#include <string>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/placement/dist_attr.h"

namespace phi::testing {

/// A whole value. Ordinary numbers are small and round, so that sums of the parts of a partial
/// value are exact in every order; rare ones (NaN, infinities, 1e30) have no such parts.
struct Whole {
  TensorMeta meta;
  std::vector<double> values;  // of complex elements both parts, one behind the other
  bool is_ordinary = true;
};
/// The value as it is.
Whole whole_of(const Tensor& x);
/// Rounded where it is ordinary.
Whole rounded(const Tensor& x);
Tensor tensor_of(const Dims& shape, DataType dtype, const std::vector<double>& values);

/// The part of each rank of the attr's mesh, by position. Partial values are taken apart into parts
/// of which none is the value: of a sum any summand, of a maximum anything below.
std::vector<Tensor> parts_of(const Whole& whole, const distributed::TensorDistAttr& attr);

/// What one rank holds.
struct Part {
  Dims shape;
  std::vector<double> values;
};
/// Of a distributed tensor, or all of a plain one.
Part part_of(const Tensor& x);

/// What is wrong with the parts, by position, as the value of `expected` under `attr`; empty if
/// nothing is. `tolerance` is relative to the largest magnitude.
std::string difference(const Whole& expected, const distributed::TensorDistAttr& attr,
                       const std::vector<Part>& parts, double tolerance);

}  // namespace phi::testing
