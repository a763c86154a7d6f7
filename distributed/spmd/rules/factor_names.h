// Factor names for tensors of any number of dims.
#pragma once

#include <array>
#include <string_view>

#include "distributed/spmd/factors.h"
#include "phi/common/dims.h"
#include "phi/common/errors.h"

namespace phi::distributed {

/// "abc" for 3: one factor per tensor dim.
inline std::string_view dim_names(int ndim) {
  return std::string_view("abcdefghi").substr(0, static_cast<size_t>(ndim));
}

/// "rstuvwxyz": factor names for a second tensor that shares no factor with the first.
inline std::string_view other_dim_names(int ndim) {
  return std::string_view("rstuvwxyz").substr(0, static_cast<size_t>(ndim));
}

/// "___" for 3: dims that no factor splits.
inline std::string_view whole_dim_names(int ndim) {
  return std::string_view("_________").substr(0, static_cast<size_t>(ndim));
}

/// A list of factor names built dim by dim.
class FactorNames {
 public:
  FactorNames() = default;
  explicit FactorNames(std::string_view names) {
    for (char c : names) push_back(c);
  }
  void push_back(char name) {
    PHI_CHECK(size_ < kMaxNdim, errors::InvalidArgument("a tensor has at most {} dims.", kMaxNdim));
    names_[static_cast<size_t>(size_++)] = name;
  }
  char& operator[](int i) { return names_[static_cast<size_t>(i)]; }
  int size() const { return size_; }
  std::string_view view() const { return {names_.data(), static_cast<size_t>(size_)}; }
  explicit(false) operator std::string_view() const { return view(); }

 private:
  std::array<char, kMaxNdim> names_{};
  int size_ = 0;
};

/// Returns `axis` counted from the front. Errors: OutOfRange that contains `what`.
inline int normal_axis(int64_t axis, int ndim, const char* what = "axis") {
  PHI_CHECK(axis >= -ndim && axis < ndim,
            errors::OutOfRange("{} is {}, the tensor has {} dims; use {} to {}.", what, axis, ndim,
                               -ndim, ndim - 1));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

/// The same as dim_names, with '_' for `axis`, a dim that must be whole. A 0-D tensor accepts axis
/// 0 and -1.
inline FactorNames names_without(int ndim, int64_t axis) {
  FactorNames names(dim_names(ndim));
  if (ndim > 0 || (axis != 0 && axis != -1)) names[normal_axis(axis, ndim)] = '_';
  return names;
}

/// For a rule that copies elements of its first input by `positions`: passes partial values of the
/// first input if `positions` is not partial.
inline Factors& pass_partial_of_first(Factors& rule, const TensorSpec& positions) {
  const bool whole = positions.attr->partial_dims().empty();
  return whole ? rule.pass_partial(PartialFlow::kOne, kAllKinds) : rule;
}

}  // namespace phi::distributed
