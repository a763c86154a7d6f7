// The sinusoidal encoding of positions (Vaswani et al., "Attention Is All You Need", 2017, 3.5).
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/common/hd.h"

namespace phi {

/// What stands at `position` in column `k` of a [.., width] encoding: sines in the first half,
/// cosines in the second, of angles that fall from `position` to a ten thousandth of it.
PHI_HD double position_encoding(int64_t position, int64_t k, int64_t width) {
  const int64_t half = width / 2;
  const auto at = static_cast<double>(position);
  const auto part = static_cast<double>(k % half);
  const double angle =
      half > 1 ? at / std::pow(10000.0, part / static_cast<double>(half - 1)) : at / 10000.0;
  return k < half ? std::sin(angle) : std::cos(angle);
}

}  // namespace phi
