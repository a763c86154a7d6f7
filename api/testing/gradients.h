// Gradients of a call on plain tensors, by the engine and by finite differences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

using Call = std::function<TensorList(const TensorList&)>;

/// The inputs as leaves, of which the floating and complex ones require a gradient.
TensorList with_gradients(const TensorList& inputs);

/// The outputs of a call that lead back to its leaves, and a fixed gradient for each.
struct Tracked {
  TensorList outputs;
  TensorList cotangents;
};
Tracked track_outputs(const Call& call, const TensorList& leaves);

/// The gradients of the floating and complex inputs in order, undefined where there is none; an
/// empty list where no output leads back to an input.
TensorList gradients(const Call& call, const TensorList& inputs);

/// What came of a comparison with central differences.
struct Slopes {
  int64_t compared = 0;  // elements, of complex ones either part
  /// In words: the first that differs by more than 1e-6 (1 + its magnitude) or is not finite, or
  /// that there is no gradient at all.
  std::string wrong;
};
/// In float64 and complex128, to which the inputs are cast.
Slopes compare_with_differences(const Call& call, const TensorList& inputs);

}  // namespace phi::testing
