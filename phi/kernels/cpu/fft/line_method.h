// LineMethod: ways to transform the lines of a block (line_blocks.h).
#pragma once

#include <cstdint>
#include <memory>

#include "phi/kernels/cpu/fft/butterflies.h"

namespace phi {

/// How lines are transformed: one line per lane; a single line, as a matrix whose rows and columns
/// fill the lanes; or two such lines, each in one half of a register.
enum class LineLayout : uint8_t { kSideBySide, kAlone, kInPairs };

/// Returns the fastest way for lines of n numbers. `neighbours`: whether elements of a line are
/// contiguous.
template <typename R>
LineLayout line_layout(int64_t n, bool neighbours);

/// Memory to prefetch during a transform: where results will be written and where the next lines
/// are read. Null if not known.
template <typename R, int K>
struct NextLines {
  LinePointers<R, K> written{};
  LinePointers<const R, K> read{};
};

/// Transforms of n complex numbers, without a division by n. If L > 1, L lines at once: row 2t has
/// their real parts and row 2t + 1 the imaginary parts, L numbers each. If L is 1, K lines, each
/// transformed separately.
template <typename R, int L, int K = 1>
class LineMethod {
 public:
  /// Returns a method with one stage for each factor of n, or with Bluestein's convolution if n has
  /// large prime factors.
  static std::unique_ptr<LineMethod> of(int64_t n, bool forward);
  virtual ~LineMethod() = default;
  /// `in` and `out` are the same arrays or do not overlap. For L > 1 they must not overlap, and
  /// both must be aligned like memory of a Workspace.
  virtual void run(const LinePointers<const R, K>& in, const LinePointers<R, K>& out,
                   const NextLines<R, K>& soon) = 0;
};

}  // namespace phi
