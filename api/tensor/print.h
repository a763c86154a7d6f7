// Prints tensors as text: shape, dtype, distribution and values.
//
//   std::cout << x;
//
// prints
//
//   | f32[2,3]
//   | [[  1, 2.5,   3],
//   |  [ -4,   5,   6]]
#pragma once

#include <iosfwd>
#include <string>

#include "api/tensor/tensor.h"

namespace phi {

/// Returns x.to_string() and, below it, the values of a plain tensor or of this rank's part of a
/// distributed one (its box, then its values). More than kPrintedWhole elements are abbreviated to
/// the first and last three along each tensor dim. Floating values have the fewest digits that
/// distinguish them from other values of their dtype.
///
/// Reads only what is on this rank and changes nothing: it sends no messages, does not materialise
/// deferred values, and does not swap values in. If this rank has no values to print (outside the
/// mesh, deferred, a placeholder, a dry run, undefined), the text states the reason; this is not an
/// error.
std::string to_text(const Tensor& x);

inline constexpr int64_t kPrintedWhole = 1000;

/// Prints to_text(x).
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace phi
