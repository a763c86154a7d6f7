// Bins of equal width, and the errors for elements outside of any bin, for bincount and histogram.
#pragma once

#include <cstdint>
#include <type_traits>

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {

inline constexpr int64_t kMostBins = int64_t{1} << 40;  // more counts than fit into any memory

/// The smallest and largest value that has a bin. C is a compute type (compute_t).
template <typename C>
struct BinRange {
  C least;
  C most;

  /// The range [least, most], widened by 1 on both sides if it has only one value.
  PHI_HD static BinRange of(C least, C most) {
    if (least != most) return {least, most};
    return {SubtractFunctor<C>()(least, C(1)), AddFunctor<C>()(most, C(1))};
  }
  PHI_HD bool holds(C x) const { return x >= least && x <= most; }
  /// The bin of x. Bins are left-closed; the last one includes its right end.
  PHI_HD int64_t bin(C x, int64_t bins) const {
    int64_t place;
    if constexpr (std::is_integral_v<C>) {
      place = static_cast<int64_t>((static_cast<double>(x) - static_cast<double>(least)) *
                                   static_cast<double>(bins) / width());
    } else {
      C share = (x - least) * static_cast<C>(bins) / (most - least);
      if (share - share != 0) {  // overflow of an intermediate value
        share = (x / 2 - least / 2) / (most / 2 - least / 2) * static_cast<C>(bins);
      }
      place = static_cast<int64_t>(share);
    }
    return place < bins ? place : bins - 1;
  }
  PHI_HD double width() const { return static_cast<double>(most) - static_cast<double>(least); }
};

template <typename T>
struct IsInvalidBin {
  PHI_HD bool operator()(T x) const { return x < 0 || int64_t{x} >= kMostBins; }
};
template <typename T>
struct IsNonFiniteSample {
  PHI_HD bool operator()(T x) const {
    const auto value = static_cast<compute_t<T>>(x);
    return value - value != 0;  // NaN if value is not finite
  }
};

/// Reports a value that bincount cannot count. Errors: InvalidArgument.
[[noreturn]] inline void throw_invalid_bin(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "x holds {} at position {}, but what is "
      "counted must not be negative, and below {}.",
      found.value, found.at, kMostBins);
}
/// Reports an element that is not finite when the bins depend on the elements. Errors:
/// InvalidArgument.
[[noreturn]] inline void throw_not_finite_bins(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "input holds {} at position {}, and bins from its smallest to its largest element need "
      "finite ones; pass min and max.",
      found.number, found.at);
}

}  // namespace phi
