// Factor names for tensors of any number of dims.
#pragma once

#include <array>
#include <string_view>

#include "phi/common/dims.h"
#include "phi/common/errors.h"

namespace phi::distributed {

/// "abc" for 3: one factor per tensor dim.
inline std::string_view dim_names(int ndim) {
  return std::string_view("abcdefghi").substr(0, static_cast<size_t>(ndim));
}

/// A list of factor names built dim by dim.
class Names {
 public:
  Names() = default;
  explicit Names(std::string_view names) {
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

/// `axis` counted from the front. Errors: OutOfRange naming what the axis was for.
inline int normal_axis(int64_t axis, int ndim, const char* what = "axis") {
  PHI_CHECK(axis >= -ndim && axis < ndim,
            errors::OutOfRange("{} is {}, the tensor has {} dims; use {} to {}.", what, axis, ndim,
                               -ndim, ndim - 1));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace phi::distributed
