// Ways to transform the lines of a block (line_blocks.h).
#pragma once

#include <cstdint>
#include <memory>

#include "phi/kernels/cpu/fft/butterflies.h"

namespace phi {

/// How lines are transformed: one per lane, or alone, as a matrix whose rows and columns fill the
/// lanes, or two such, each in half of a register.
enum class LineWay : uint8_t { kSideBySide, kAlone, kInPairs };

/// The quickest one for lines of n numbers, which are `neighbours` in each line or not.
template <typename R>
LineWay line_way(int64_t n, bool neighbours);

/// Where results will be written and the next lines are read, which is asked for while there is
/// something else to do; null where it is not known.
template <typename R, int K>
struct Soon {
  Lines<R, K> written{};
  Lines<const R, K> read{};
};

/// Transforms of n complex numbers. Nothing is divided by n. L lines at once: row 2t has their real
/// parts, row 2t + 1 the imaginary ones, of L numbers each. Or, where L is 1, K lines alone.
template <typename R, int L, int K = 1>
class LineMethod {
 public:
  /// A stage for each factor; for large primes Bluestein's convolution.
  static std::unique_ptr<LineMethod> of(int64_t n, bool forward);
  virtual ~LineMethod() = default;
  /// What is read lies where what is written does, or apart from all of it; of L lines apart, and
  /// as a Workspace has it.
  virtual void run(const Lines<const R, K>& in, const Lines<R, K>& out, const Soon<R, K>& soon) = 0;
};

}  // namespace phi
