// Folds of pooling: how the elements of a window are combined.
#pragma once

#include <limits>

#include "phi/common/host_device.h"

namespace phi {

/// Whether x replaces the largest element so far. NaN is larger than all numbers; of equal elements
/// the first stays.
template <typename C>
PHI_HD bool is_larger(C x, C most) {
  return (most == most) & !(x <= most);
}

/// Adds `term` of each element; `finish` maps the sum to the result.
template <typename Term, typename Finish>
struct SumFold {
  Term term;
  Finish finish;
  template <typename C>
  PHI_HD static C join(C sum, C x) {
    return sum + x;
  }
  static constexpr double kStart = 0;
};

/// The maximum; the lowest number for a window without elements.
struct MaxFold {
  template <typename C>
  PHI_HD static C term(C x) {
    return x;
  }
  template <typename C>
  PHI_HD static C join(C most, C x) {
    return is_larger(x, most) ? x : most;
  }
  template <typename C>
  PHI_HD static C finish(C most, C count) {
    return count > C(0) ? most : std::numeric_limits<C>::lowest();
  }
  static constexpr double kStart = -std::numeric_limits<double>::infinity();
};

}  // namespace phi
