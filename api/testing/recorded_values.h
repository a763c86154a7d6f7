// Values that were recorded against those that came: numbers of any dtype, some of them right up to
// factors.
#pragma once

#include <string>

#include "api/tensor/tensor.h"
#include "api/testing/recorded_call.h"

namespace phi::testing {

/// Any real number in arithmetic that the language has.
template <typename T>
auto convert_number(T v) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(v);
  } else {
    return v;
  }
}

/// Relative to the largest magnitude: 1e-5 in float32, 1e-12 in float64, 1e-2 in 16-bit floats,
/// none in others.
double usual_tolerance(DataType dtype);

/// Empty if `got`, a plain tensor or undefined, has shape, dtype and values of `expected`.
std::string wrong_values(const Tensor& got, const Tensor& expected, double tolerance,
                         Freedom freedom);

bool is_zero(const Tensor& x);
/// Some element is -0.
bool has_negative_zero(const Tensor& x);
/// "f32[3] [1, 2, 3]", the first elements of long ones.
std::string text_of_values(const Tensor& x);

}  // namespace phi::testing
