// Tensors as text: shape, dtype, how they are distributed, and values.
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

/// x.to_string(), and below it the values of a plain tensor, or this rank's part of a distributed
/// one (its box, then its values); of more than kPrintedWhole elements the first and the last three
/// along each tensor dim. Floating values have as many digits as tell them apart from others of
/// their dtype.
///
/// Reads what lies on this rank and changes nothing: no message goes to another rank, deferred
/// values are not made, swapped ones not brought back. Where there are no values to show (outside
/// the mesh, deferred, a placeholder, a dry run, undefined) it says why. Never throws for that.
std::string to_text(const Tensor& x);

inline constexpr int64_t kPrintedWhole = 1000;

/// Prints to_text(x).
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace phi
