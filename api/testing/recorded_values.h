// Compares recorded values with actual ones, of any dtype, optionally up to factors of rows or
// columns.
#pragma once

#include <string>

#include "api/tensor/tensor.h"
#include "api/testing/recorded_call.h"

namespace phi::testing {

/// A real number in a type with built-in arithmetic.
template <typename T>
auto convert_number(T v) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(v);
  } else {
    return v;
  }
}

/// The default tolerance relative to the largest magnitude: 1e-5 in float32, 1e-12 in float64, 1e-2
/// in half precision, 0 in other dtypes.
double usual_tolerance(DataType dtype);

/// The difference between `got` (plain or undefined) and `expected` in shape, dtype or values, as
/// text; empty if there is none.
std::string compare_values(const Tensor& got, const Tensor& expected, double tolerance,
                           Freedom freedom);

bool is_zero(const Tensor& x);
/// Whether an element is -0.
bool has_negative_zero(const Tensor& x);
/// For example "f32[3] [1, 2, 3]"; long tensors show their first elements.
std::string text_of_values(const Tensor& x);

}  // namespace phi::testing
