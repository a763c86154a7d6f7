// 8-bit weights: integers in [-127, 127] that represent a group's elements divided by its scale.
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

inline constexpr double kLargestQuantized = 127;

/// The integer for an element of a group whose largest magnitude is `most`.
PHI_HD int8_t quantized(double value, double most) {
  const double factor = most > 0 ? kLargestQuantized / most : 0;
  const double whole = std::nearbyint(value * factor);
  if (!(whole > -kLargestQuantized)) return static_cast<int8_t>(-kLargestQuantized);
  return static_cast<int8_t>(whole > kLargestQuantized ? kLargestQuantized : whole);
}

/// The number of rows, of a matrix of `rows` rows, that share a scale.
inline int64_t group_rows(int64_t rows, int group_size) {
  if (group_size > 0) return group_size;
  return rows > 1 ? rows : 1;
}

/// Whether x cannot be quantised because it is not finite.
struct IsNotFinite {
  template <typename T>
  PHI_HD bool operator()(T x) const {
    const auto value = static_cast<double>(static_cast<compute_t<T>>(x));
    return !(value - value == 0);
  }
};
inline DeviceAssertion not_finite() {
  return {.argument = "x", .raise = [](const DeviceAssertion& found) {
            const int64_t columns = found.meta.dims[1];
            throw errors::InvalidArgument("x holds {} at [{}, {}], which int8 cannot represent.",
                                          found.number, found.at / columns, found.at % columns);
          }};
}

}  // namespace phi
