// Divider: division by a run-time constant, computed as a multiplication and a shift. GPUs have no
// integer division instruction, and emulated 64-bit division is slow.
//
//   const Divider columns(x.dims()[1]);              // on the host
//   const int64_t row = columns.quotient(i);         // in a kernel, which takes it by value
#pragma once

#include <bit>
#include <cstdint>

#include "phi/common/host_device.h"

namespace phi::gpu {

/// Exact for all dividends from 0 to 2^63 - 1. Source: Granlund and Montgomery, Division by
/// Invariant Integers using Multiplication (1994), theorem 4.2, for 63-bit dividends.
class Divider {
 public:
  /// Leaves the members uninitialised, because each launch constructs arrays of Divider. Assign
  /// before use.
  Divider() = default;

  /// Requires 0 <= by <= 2^62. 0 is allowed for extents of empty arrays, for which quotient() is
  /// never called.
  explicit Divider(int64_t by) : factor_(0), by_(by), shift_(0) {
    if (by == 0) return;
    const auto divisor = static_cast<uint64_t>(by);
    shift_ = static_cast<int>(std::bit_width(divisor - 1));
    factor_ = static_cast<uint64_t>((Uint128{1} << (63 + shift_)) / divisor) + 1;
  }

  PHI_HD int64_t by() const { return by_; }

  /// floor(i / by) for i >= 0.
  PHI_HD int64_t quotient(int64_t i) const {
    const Uint128 product = Uint128{static_cast<uint64_t>(i) << 1} * factor_;
    return static_cast<int64_t>(static_cast<uint64_t>(product >> 64) >> shift_);
  }

 private:
  using Uint128 = unsigned __int128;

  uint64_t factor_;
  int64_t by_;
  int shift_;
};

}  // namespace phi::gpu
