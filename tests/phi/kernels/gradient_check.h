// Gradient kernels against differences of the forward kernels, in every floating dtype.
//
//   struct Square {
//     template <typename T> DenseTensor forward(const Tensors& in) const;
//     template <typename T> Tensors gradients(const Tensors& in, const DenseTensor& out,
//                                             const DenseTensor& out_grad) const;
//   };
// are the gradients of
//   check_gradients(Square{}, {{{3, 4}, -2, 2}});
#pragma once

#include "tests/phi/kernels/finite_differences.h"

namespace phi::testing {

using Tensors = std::vector<DenseTensor>;

/// A differentiable input: its dims and the range that its values are drawn from.
struct Argument {
  Dims dims;
  double low = -1;
  double high = 1;
};

namespace detail {

template <typename T>
Tensors tensors(const std::vector<Argument>& arguments, const std::vector<Values>& values) {
  Tensors result;
  result.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    result.push_back(tensor<T>(values[i], arguments[i].dims));
  }
  return result;
}

/// 16-bit `out` may be rounded, so its rounding is allowed for once more than the gradient's own.
template <typename T, typename Op>
void check_dtype(const Op& op, const std::vector<Argument>& arguments,
                 const std::vector<Values>& values, const std::vector<Values>& expected,
                 const std::string& what) {
  const Tensors in = tensors<T>(arguments, values);
  const DenseTensor out = op.template forward<T>(in);
  const DenseTensor out_grad = tensor<T>(random_values(out.numel(), 99), out.dims());
  const Tensors got = op.template gradients<T>(in, out, out_grad);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(got[i].dims(), in[i].dims());
    expect_close(to_doubles(got[i]), expected[i], 3 * tolerance<T>(),
                 what + " input " + std::to_string(i) + " " + std::string(name_of(dtype_of<T>())));
  }
}

}  // namespace detail

/// Checks the gradients of all arguments for a random gradient of the output: in float64 against
/// finite differences, in the other dtypes against float64.
template <typename Op>
void check_gradients(const Op& op, const std::vector<Argument>& arguments,
                     const std::string& what = "") {
  std::vector<Values> values;
  values.reserve(arguments.size());
  for (const Argument& a : arguments) {
    values.push_back(
        random_values(a.dims.numel(), static_cast<uint32_t>(values.size()) + 1, a.low, a.high));
  }
  const Tensors in = detail::tensors<double>(arguments, values);
  const DenseTensor out = op.template forward<double>(in);
  const Values cotangent = random_values(out.numel(), 99);
  std::vector<Values> expected;
  expected.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    expected.push_back(finite_differences(values[i], cotangent, [&](const Values& moved) {
      std::vector<Values> at = values;
      at[i] = moved;
      return to_doubles(op.template forward<double>(detail::tensors<double>(arguments, at)));
    }));
  }
  const Tensors got = op.template gradients<double>(in, out, tensor<double>(cotangent, out.dims()));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    expect_close(to_doubles(got[i]), expected[i], kDifferenceError,
                 what + " input " + std::to_string(i));
    expected[i] = to_doubles(got[i]);
  }
  detail::check_dtype<float>(op, arguments, values, expected, what);
  detail::check_dtype<bfloat16>(op, arguments, values, expected, what);
  detail::check_dtype<float16>(op, arguments, values, expected, what);
}

}  // namespace phi::testing
