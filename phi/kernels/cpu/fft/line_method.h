// Ways to transform the lines of a block (line_blocks.h).
#pragma once

#include <cstdint>
#include <memory>

namespace phi {

/// Transforms of n complex numbers, L lines at once: row 2t has their real parts, row 2t + 1 the
/// imaginary ones, of L numbers each. Nothing is divided by n.
template <typename R, int L>
class LineMethod {
 public:
  /// KissFFT, whose time goes with the sum of a length's prime factors; for large ones Bluestein's
  /// convolution. Of one lane: for lengths above kLongLine.
  static std::unique_ptr<LineMethod> of(int64_t n, bool forward);
  virtual ~LineMethod() = default;
  /// `in` and `out` do not overlap and lie as a Workspace has them.
  virtual void run(const R* in, R* out) = 0;
};

/// Whether lines of n numbers are transformed one by one, with lanes inside: many of them would
/// fill the caches.
bool is_long_line(int64_t n);

}  // namespace phi
