// Gradients of a call: fixed cotangents, the engine, and central differences element by element.
#include "api/testing/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "api/autograd/autograd.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/gaussian.h"
#include "phi/common/inexact.h"

namespace phi::testing {

TensorList with_gradients(const TensorList& inputs) {
  TensorList leaves;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (is_inexact(x.dtype())) leaves.back().set_requires_grad();
  }
  return leaves;
}

namespace {

Tensor cotangent(const Tensor& out, int seed) {
  const DataType dtype = real_part_of(out.dtype());
  const Tensor real = gaussian(out.shape(), 0.0f, 1.0f, seed, dtype);
  if (!is_complex(out.dtype())) return real;
  return complex(real, gaussian(out.shape(), 0.0f, 1.0f, seed + 40, dtype));
}

}  // namespace

TrackedOutputs track_outputs(const TensorFunction& call, const TensorList& leaves) {
  TrackedOutputs result;
  for (const Tensor& out : call(leaves)) {
    if (!out.defined() || !out.requires_grad()) continue;
    result.cotangents.push_back(cotangent(out, 40 + static_cast<int>(result.outputs.size())));
    result.outputs.push_back(out);
  }
  return result;
}

TensorList gradients(const TensorFunction& call, const TensorList& inputs) {
  const TensorList leaves = with_gradients(inputs);
  const TrackedOutputs tracked = track_outputs(call, leaves);
  TensorList wanted;
  for (const Tensor& leaf : leaves) {
    if (leaf.requires_grad()) wanted.push_back(leaf);
  }
  if (tracked.outputs.empty()) return {};
  return grad(tracked.outputs, wanted, tracked.cotangents);
}

namespace {

DataType in_double(DataType dtype) {
  return is_complex(dtype) ? DataType::COMPLEX128 : is_floating(dtype) ? DataType::FLOAT64 : dtype;
}

// The numbers of a float64 or complex128 tensor; a complex element is two numbers.
std::span<const double> numbers(const Tensor& x) {
  return {static_cast<const double*>(x.dense().raw_data()), x.dense().nbytes() / sizeof(double)};
}

double objective(const TensorFunction& call, const TensorList& inputs, const TrackedOutputs& at) {
  const NoGrad no_grad;
  double total = 0;
  size_t k = 0;
  for (const Tensor& out : call(inputs)) {
    if (k == at.outputs.size()) break;
    if (!out.defined() || out.shape() != at.outputs[k].shape() ||
        out.dtype() != at.outputs[k].dtype()) {
      continue;
    }
    const auto values = numbers(out);
    const auto weights = numbers(at.cotangents[k++]);
    for (size_t i = 0; i < values.size(); ++i) total += values[i] * weights[i];
  }
  return total;
}

// Compares the gradient of input `i`, number by number.
void compare_slopes(const TensorFunction& call, const TensorList& inputs, size_t i,
                    const Tensor& computed, const TrackedOutputs& at, DifferenceCheck& slopes) {
  constexpr double kStep = 1e-6;
  constexpr double kTolerance = 1e-6;
  if (computed.shape() != inputs[i].shape() || computed.dtype() != inputs[i].dtype()) {
    slopes.wrong = fmt::format("the gradient of input {}, {}, is {}", i, inputs[i].to_string(),
                               computed.to_string());
    return;
  }
  TensorList moved = inputs;
  moved[i] = Tensor(inputs[i].dense().clone());
  // Queries the address on each write: outputs may be copy-on-write aliases of the input.
  const auto set = [&](size_t n, double value) {
    static_cast<double*>(moved[i].dense().mutable_raw_data())[n] = value;
  };
  const auto slope = numbers(computed);
  for (size_t n = 0; n < slope.size() && slopes.wrong.empty(); ++n) {
    const double kept = numbers(moved[i])[n];
    set(n, kept + kStep);
    const double above = objective(call, moved, at);
    set(n, kept - kStep);
    const double below = objective(call, moved, at);
    set(n, kept);
    const double expected = (above - below) / (2 * kStep);
    ++slopes.compared;
    // Written so that a NaN fails.
    if (!(std::abs(slope[n] - expected) <= kTolerance * (1 + std::abs(expected)))) {
      slopes.wrong =
          fmt::format("the gradient of input {} at element {} is {}, by finite differences {}", i,
                      n, slope[n], expected);
    }
  }
}

}  // namespace

DifferenceCheck compare_with_differences(const TensorFunction& call, const TensorList& given) {
  TensorList inputs;
  for (const Tensor& x : given) {
    inputs.push_back(is_inexact(x.dtype()) ? cast(x, in_double(x.dtype())) : x);
  }
  DifferenceCheck slopes;
  const TensorList computed = gradients(call, inputs);
  const TrackedOutputs at = track_outputs(call, with_gradients(inputs));
  if (std::ranges::none_of(computed, &Tensor::defined)) {
    slopes.wrong = "no output depends on an input in double precision";
    return slopes;
  }
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_inexact(inputs[i].dtype())) continue;
    const Tensor& grad = computed[next++];
    if (grad.defined()) compare_slopes(call, inputs, i, grad, at, slopes);
  }
  return slopes;
}

}  // namespace phi::testing
