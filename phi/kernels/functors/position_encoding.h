// Sinusoidal position encoding (Vaswani et al., "Attention Is All You Need", 2017, section 3.5).
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/common/host_device.h"

namespace phi {

/// Column k of a [.., width] encoding: sines in the first half, cosines in the second. The angle is
/// the position divided by `length`, which grows from 1 to 10,000.
struct EncodingColumn {
  PHI_HD EncodingColumn(int64_t k, int64_t width) : is_sine(k < width / 2) {
    const int64_t half = width / 2;
    const auto part = static_cast<double>(k % half);
    length = half > 1 ? std::pow(10000.0, part / static_cast<double>(half - 1)) : 10000.0;
  }
  PHI_HD double at(int64_t position) const {
    const double angle = static_cast<double>(position) / length;
    return is_sine ? std::sin(angle) : std::cos(angle);
  }

  bool is_sine;
  double length;  // positions per radian
};

}  // namespace phi
