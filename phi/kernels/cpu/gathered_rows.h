// GatheredRows: an array, seen over some of its tensor dims, as contiguous rows of the compute
// type.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phi/common/dims.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// Offsets of rows and of their elements. A row consists of the elements over `axes` in row-major
/// order; there is one row for each index of the other tensor dims.
class RowOffsets {
 public:
  RowOffsets(const Dims& dims, AxisSet axes) {
    const Dims strides = dims.strides();
    for (int d = 0; d < dims.ndim(); ++d) {
      (axes.has(d) ? along_ : kept_).append(dims[d], {strides[d]});
    }
  }
  int64_t count() const { return kept_.turns(); }
  int64_t length() const { return along_.turns(); }
  bool contiguous() const {
    return along_.ndim() == 0 || (along_.ndim() == 1 && along_.stride(0, 0) == 1);
  }

  /// Calls f(row number, offset of its first element).
  template <typename F>
  void for_each_row(F&& f) const {
    int64_t row = 0;
    kept_.for_each([&](const std::array<int64_t, 1>& at) { f(row++, at[0]); });
  }
  /// Calls f(element number, its offset from the row's first element).
  template <typename F>
  void for_each_element(F&& f) const {
    int64_t k = 0;
    if (along_.ndim() == 1) {
      const int64_t stride = along_.stride(0, 0);
      for (const int64_t n = length(); k < n; ++k) f(k, k * stride);
      return;
    }
    along_.for_each([&](const std::array<int64_t, 1>& at) { f(k++, at[0]); });
  }

 private:
  StridedWalk<1> kept_;
  StridedWalk<1> along_;
};

/// Reads the rows of an array of T: in place if they are contiguous and T is not half precision,
/// otherwise from a buffer of one row.
template <typename T>
class GatheredRows {
 public:
  using C = compute_t<T>;
  GatheredRows(const T* data, const Dims& dims, AxisSet axes)
      : data_(data), places_(dims, axes), in_place_(!kIs16Bit<T> && places_.contiguous()) {
    if (!in_place_) buffer_.resize(static_cast<size_t>(places_.length()));
  }
  const RowOffsets& places() const { return places_; }
  int64_t length() const { return places_.length(); }

  /// Calls f(row number, pointer to the row's elements). The pointer is valid during the call.
  template <typename F>
  void for_each(F&& f) {
    places_.for_each_row([&](int64_t row, int64_t at) { f(row, read(data_ + at)); });
  }

 private:
  const C* read(const T* first) {
    if constexpr (!kIs16Bit<T>) {
      if (in_place_) return first;
    }
    if (places_.contiguous()) {
      convert(first, buffer_.data(), places_.length());
    } else {
      places_.for_each_element(
          [&](int64_t k, int64_t offset) { buffer_[k] = static_cast<C>(first[offset]); });
    }
    return buffer_.data();
  }

  const T* data_;
  RowOffsets places_;
  bool in_place_;
  std::vector<C> buffer_;
};

}  // namespace phi
