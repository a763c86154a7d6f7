// check_op: an operator's distributed results and gradients against those of one process, as this
// library's own operators are tested. For operators of one's own; needs no test framework.
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

/// One call of an operator (or of several), on plain tensors.
struct OpCase {
  std::string name;
  TensorList inputs;
  std::function<TensorList(const TensorList&)> call = nullptr;
  /// Of distributed results, relative to the largest magnitude of the output.
  double tolerance = 1e-5;
  /// Inputs may be partial sums too. False where the call takes them apart in ways of its own.
  bool partial = true;
  /// Gradients of the floating and complex inputs are checked where the call can be differentiated.
  bool gradients = true;
  /// The gradients are those of finite differences, in float64 and complex128: false for a call
  /// with corners near its inputs, or whose kernel has no such dtype.
  bool smooth = true;
};

struct CheckOptions {
  /// The most placements tried on each mesh; where there are more, `seed` draws.
  size_t placements = 400;
  uint32_t seed = 20261121;
};

/// What was tried, and what was wrong: the first failure of each kind, in words.
struct OpReport {
  int64_t calls = 0;           // distributed calls, of one mesh and one choice of placements each
  int64_t gradient_calls = 0;  // the same of gradients
  int64_t differences = 0;     // elements of gradients that were compared with finite differences
  std::vector<std::string> failures;

  /// "424 calls and 424 gradients on meshes agree with one process, 54 gradient elements with
  /// finite differences"; with failures how many.
  std::string to_string() const;
};

/// Tries every placement of the inputs (R, each S(d), and P(sum) of floating ones, in drawn parts
/// of which none is the value), on two of four ranks, on three of three (uneven), and, drawn, on
/// 2x2 of five ranks with one outside, with uneven shards where the shapes have them. Results are
/// gathered and compared with the plain call's, and so are gradients; gradients of the plain call
/// with finite differences. Errors of the operator are failures.
OpReport try_op(const OpCase& test, const CheckOptions& options = {});

/// The same. Errors: Internal with all failures.
OpReport check_op(const OpCase& test, const CheckOptions& options = {});

}  // namespace phi::testing
