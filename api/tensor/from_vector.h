// from_vector makes a tensor of values that are written in the program, including bool.
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

/// Returns a plain tensor of the vector's values, row-major, with the dtype of T. Moves the vector
/// into the tensor without a copy (Tensor::from); a vector of bool is copied. Tensor::to_vector is
/// the inverse. Errors: InvalidArgument if values.size() is not shape.numel().
template <typename T>
Tensor from_vector(std::vector<T> values, const Dims& shape) {
  static_assert(dtype_of<T>() != DataType::UNDEFINED, "no dtype matches this value type.");
  if constexpr (std::is_same_v<T, bool>) {
    // std::vector<bool> is packed: it has no array of bool to share.
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
