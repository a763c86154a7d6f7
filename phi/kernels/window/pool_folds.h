// How the elements of a window are joined.
#pragma once

#include <limits>

#include "phi/common/hd.h"

namespace phi {

/// Whether x takes the place of the largest so far. NaN is larger than all numbers, and of equals
/// the first stays.
template <typename C>
PHI_HD bool is_larger(C x, C most) {
  return (most == most) & !(x <= most);
}

/// How the elements of a window are joined: terms are added up.
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

/// The largest; the lowest number of a window without elements.
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
