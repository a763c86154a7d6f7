// Valid parameters of distributions and the error for others, shared by all devices.
#pragma once

#include <cmath>

#include "phi/common/host_device.h"

namespace phi {

struct IsRate {
  static constexpr const char* kRange = "a finite rate of at least 0";
  PHI_HD bool operator()(double x) const { return x >= 0 && std::isfinite(x); }
};
struct IsShape {
  static constexpr const char* kRange = "a finite number above 0";
  PHI_HD bool operator()(double x) const { return x > 0 && std::isfinite(x); }
};
struct IsProbability {
  static constexpr const char* kRange = "a probability in [0, 1]";
  PHI_HD bool operator()(double x) const { return x >= 0 && x <= 1; }
};
struct IsCount {
  static constexpr const char* kRange = "a number of trials, at least 0";
  PHI_HD bool operator()(double x) const { return x >= 0 && x < 0x1p63; }
};

/// Reports that the argument `name` has the invalid element `x`. `range` is the kRange of one of
/// the predicates above. Errors: InvalidArgument.
[[noreturn]] void throw_no_parameter(const char* name, double x, const char* range);

}  // namespace phi
