// check_op: compares an operator's distributed results and gradients with those of one process, as
// the tests of this library's operators do. Use it for custom operators; it needs no test
// framework.
//
//   phi::testing::check_op({
//       .name = "my_op",
//       .inputs = {phi::gaussian({6, 8})},
//       .call = [](const phi::TensorList& in) { return phi::TensorList{my_op(in[0])}; }});
//
// Ranks are threads of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi::testing {

/// A call of one operator, or of several, on plain tensors.
struct OpCase {
  std::string name;
  TensorList inputs;
  std::function<TensorList(const TensorList&)> call = nullptr;
  /// Tolerance for distributed results, relative to the largest magnitude of the output.
  double tolerance = 1e-5;
  /// Also try partial sums as inputs. Set to false if the call places its inputs itself.
  bool partial = true;
  /// Check gradients of the floating and complex inputs if the call is differentiable.
  bool gradients = true;
  /// Compare gradients with finite differences in float64 and complex128. Set to false for a call
  /// that is not differentiable near its inputs, or whose kernel lacks these dtypes.
  bool smooth = true;
};

struct CheckOptions {
  /// The maximum number of placements per mesh. If there are more, they are drawn with `seed`.
  size_t placements = 400;
  uint32_t seed = 20261121;
};

/// Counts of what was tried, and the first failure of each kind as text.
struct OpReport {
  int64_t calls = 0;           // distributed calls, each with one mesh and one choice of placements
  int64_t gradient_calls = 0;  // the same for gradients
  int64_t differences = 0;     // elements of gradients that were compared with finite differences
  std::vector<std::string> failures;

  /// "424 calls and 424 gradients on meshes agree with one process, 54 gradient elements with
  /// finite differences", or the number of failures.
  std::string to_string() const;
};

/// Tries all placements of the inputs: R, each S(d), and for floating inputs P(sum), in random
/// parts of which none equals the value. Meshes: two of four ranks; three of three ranks, where
/// shards are uneven; and, with random placements, 2x2 of five ranks with one rank outside. Shards
/// are uneven where the shapes allow it. Distributed results and gradients are gathered and
/// compared with those of the plain call, and gradients of the plain call with finite differences.
/// Errors of the operator count as failures.
OpReport try_op(const OpCase& test, const CheckOptions& options = {});

/// try_op() that throws Internal with all failures.
OpReport check_op(const OpCase& test, const CheckOptions& options = {});

}  // namespace phi::testing
