// Gradients of a call on plain tensors, by the autograd engine and by finite differences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

using TensorFunction = std::function<TensorList(const TensorList&)>;

/// The inputs as leaves. Floating and complex ones require a gradient.
TensorList with_gradients(const TensorList& inputs);

/// The outputs of a call that depend on its leaves, with a fixed cotangent for each.
struct TrackedOutputs {
  TensorList outputs;
  TensorList cotangents;
};
TrackedOutputs track_outputs(const TensorFunction& call, const TensorList& leaves);

/// Gradients of the floating and complex inputs in order; undefined if an input has none. Empty if
/// no output depends on an input.
TensorList gradients(const TensorFunction& call, const TensorList& inputs);

/// The result of a comparison with central differences.
struct DifferenceCheck {
  int64_t compared = 0;  // number of elements; complex ones count as two
  /// The first gradient that differs by more than 1e-6 (1 + its magnitude) or is not finite, or
  /// that there is no gradient at all; as text. Empty if all agree.
  std::string wrong;
};
/// Casts the inputs to float64 and complex128 and compares the gradients of all elements.
DifferenceCheck compare_with_differences(const TensorFunction& call, const TensorList& inputs);

}  // namespace phi::testing
