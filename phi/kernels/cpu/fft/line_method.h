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
  /// A stage for each factor; for large primes Bluestein's convolution. Of one lane: where
  /// is_long_line or is_quicker_alone.
  static std::unique_ptr<LineMethod> of(int64_t n, bool forward);
  virtual ~LineMethod() = default;
  /// `in` and `out` do not overlap and lie as a Workspace has them.
  virtual void run(const R* in, R* out) = 0;
};

/// Whether lines of n numbers are transformed one by one wherever they lie: many of them would fill
/// the caches.
bool is_long_line(int64_t n);
/// Whether those whose numbers are neighbours are: as a matrix whose rows and columns fill the
/// lanes.
bool is_quicker_alone(int64_t n, int64_t lanes);

}  // namespace phi
