// Dims: the extents of a tensor with up to kMaxNdim tensor dims, stored inline (no heap).
//
//   Dims d{64, 32};  d.ndim() == 2;  d.numel() == 2048;  d.to_string() == "[64,32]";
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace phi {

inline constexpr int kMaxNdim = 9;

/// An unknown extent: of a data-dependent output before its kernel has run.
inline constexpr int64_t kUnknownDim = -1;

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> dims) : Dims(std::span(dims.begin(), dims.size())) {}
  explicit(false) Dims(const std::vector<int64_t>& dims) : Dims(std::span<const int64_t>(dims)) {}
  /// Errors: InvalidArgument for more than kMaxNdim dims.
  explicit Dims(std::span<const int64_t> dims) {
    if (dims.size() > kMaxNdim) throw_too_many(dims.size());
    for (int64_t d : dims) dims_[ndim_++] = d;
  }
  /// `ndim` dims, each of size `value`.
  static Dims filled(int ndim, int64_t value) {
    if (ndim > kMaxNdim) throw_too_many(ndim);
    Dims dims;
    dims.ndim_ = ndim;
    for (int i = 0; i < ndim; ++i) dims.dims_[i] = value;
    return dims;
  }

  int ndim() const { return ndim_; }
  int size() const { return ndim_; }
  bool empty() const { return ndim_ == 0; }
  int64_t operator[](int i) const { return dims_[i]; }
  int64_t& operator[](int i) { return dims_[i]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + ndim_; }
  int64_t* begin() { return dims_.data(); }
  int64_t* end() { return dims_.data() + ndim_; }
  int64_t back() const { return dims_[ndim_ - 1]; }
  void push_back(int64_t d) {
    if (ndim_ == kMaxNdim) throw_too_many(kMaxNdim + 1);
    dims_[ndim_++] = d;
  }

  /// Product of the extents; 1 for a scalar, 0 if any extent is 0. Errors: InvalidArgument if it
  /// does not fit in an int64.
  int64_t numel() const { return numel(0, ndim_); }
  /// Product of the extents of the tensor dims [first, last).
  int64_t numel(int first, int last) const {
    int64_t n = 1;
    bool overflows = false;
    for (int i = first; i < last; ++i) overflows |= __builtin_mul_overflow(n, dims_[i], &n);
    if (overflows) [[unlikely]]
      return overflown(first, last);
    return n;
  }
  /// Size of numel() elements of `width` bytes, in bytes. Errors: InvalidArgument if the size, with
  /// each extent of 0 counted as 1, does not fit in an int64. Strides and partial products of the
  /// extents of an existing tensor therefore always fit.
  size_t nbytes(size_t width) const {
    int64_t bytes = 0;
    const bool overflows = __builtin_mul_overflow(numel(), static_cast<int64_t>(width), &bytes);
    if (overflows || bytes == 0) [[unlikely]]
      check_fits(width);
    return static_cast<size_t>(bytes);
  }
  /// Errors: those of nbytes(width).
  void check_fits(size_t width) const;
  bool known() const {
    for (int i = 0; i < ndim_; ++i) {
      if (dims_[i] < 0) return false;
    }
    return true;
  }
  /// Row-major strides in elements. Errors: InvalidArgument if one does not fit in an int64.
  Dims strides() const {
    Dims s = filled(ndim_, 1);
    bool overflows = false;
    for (int i = ndim_ - 2; i >= 0; --i) {
      overflows |= __builtin_mul_overflow(s[i + 1], dims_[i + 1], &s[i]);
    }
    if (overflows) [[unlikely]]
      throw_too_large(1);
    return s;
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.ndim_ != b.ndim_) return false;
    for (int i = 0; i < a.ndim_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }
  /// "[64,32]"; an unknown extent prints as "?".
  std::string to_string() const;

 private:
  [[noreturn]] static void throw_too_many(size_t ndim);
  [[noreturn]] void throw_too_large(size_t width) const;
  // numel(first, last) if the product from the left overflows: 0 if an extent is 0, else an error.
  int64_t overflown(int first, int last) const;

  std::array<int64_t, kMaxNdim> dims_{};
  int32_t ndim_ = 0;
};

/// a * b and a + b of extents. If `a` is kUnknownDim, so is the result. Errors: InvalidArgument if
/// the result does not fit in an int64.
int64_t extent_times(int64_t a, int64_t b);
int64_t extent_plus(int64_t a, int64_t b);

}  // namespace phi
