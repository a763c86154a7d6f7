// Invalid arguments of random choices and of accuracy counts, and their errors, shared by all
// devices.
#pragma once

#include <cstdint>

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// Whether a class weight is invalid: negative or not finite.
struct IsInvalidWeight {
  template <typename T>
  PHI_HD bool operator()(T x) const {
    const auto weight = static_cast<compute_t<T>>(x);
    return !(weight >= 0 && weight - weight == 0);
  }
};
[[noreturn]] inline void throw_invalid_weight(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "x holds {}, but weights of classes are finite numbers of at least 0.", found.number);
}

/// Whether a label, or a number of positive weights, is less than `least`.
struct IsBelow {
  int64_t least;
  PHI_HD bool operator()(int64_t x) const { return x < least; }
};
[[noreturn]] inline void throw_too_few(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "{} of the weights in a row of x are above 0, "
      "but {} classes are to be chosen.",
      found.value, found.extent);
}

[[noreturn]] inline void throw_invalid_label(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "label is {} at flat position {} (of this rank), but classes are "
      "counted from 0.",
      found.value, found.at);
}

/// Whether a label is outside [0, classes).
struct IsInvalidClass {
  int64_t classes;
  PHI_HD bool operator()(int64_t label) const { return label < 0 || label >= classes; }
};
[[noreturn]] inline void throw_invalid_class(const DeviceAssertion& found) {
  throw errors::InvalidArgument("label {} is {}, but it must be in [0, {}), num_classes.", found.at,
                                found.value, found.extent);
}

}  // namespace phi
