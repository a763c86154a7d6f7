// from_vector: tensors of values that stand in the program, bool among them.
//
//   Tensor x = from_vector({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
//   Tensor mask = from_vector({true, false}, {2});
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi {

/// A plain tensor of the vector's values, row-major, of the dtype of T: Tensor::from, which takes
/// the vector without a copy; of bools it copies them. Tensor::to_vector is the way back.
/// Errors: InvalidArgument if their number is not shape.numel().
template <typename T>
Tensor from_vector(std::vector<T> values, const Dims& shape) {
  static_assert(dtype_of<T>() != DataType::UNDEFINED, "no dtype has values of this type.");
  if constexpr (std::is_same_v<T, bool>) {
    // A vector of bool has no array to share.
    DenseTensor::check_count(values.size(), shape);
    const auto array = std::make_shared<bool[]>(values.size());
    std::copy(values.begin(), values.end(), array.get());
    return Tensor::from(std::shared_ptr<const bool[]>(array), shape);
  } else {
    return Tensor::from(std::move(values), shape);
  }
}
template <typename T>
Tensor from_vector(std::initializer_list<T> values, const Dims& shape) {
  return from_vector(std::vector<T>(values), shape);
}

}  // namespace phi
