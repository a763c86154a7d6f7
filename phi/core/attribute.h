// Attribute types of the op YAML that have no C++ counterpart: Scalar and IntArray.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "phi/common/dims.h"
#include "phi/common/dtype.h"
#include "phi/common/inline_vector.h"

namespace phi {

/// The kind of an attribute. It determines how a text value of the attribute is parsed.
enum class AttributeKind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kNumber,  // a Scalar: any of the three above
  kString,
  kDataType,
  kInts,
  kFloats,
  kStrings,
  kPlace,  // a property of the run: a captured program has none
};

/// A number of any C++ arithmetic type, stored without loss as double, int64 or bool.
class Scalar {
 public:
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit(false) Scalar(T value) : dtype_(dtype_for<T>()) {
    if constexpr (std::is_floating_point_v<T>) {
      float_ = static_cast<double>(value);
    } else {
      int_ = static_cast<int64_t>(value);
    }
  }
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return T(to<float>());
    else if constexpr (kIsComplex<T>)
      return T(to<typename T::value_type>());
    else
      return is_floating(dtype_) ? static_cast<T>(float_) : static_cast<T>(int_);
  }
  /// FLOAT64, INT64 or BOOL.
  DataType dtype() const { return dtype_; }
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.dtype_ == b.dtype_ &&
           (is_floating(a.dtype_) ? a.float_ == b.float_ : a.int_ == b.int_);
  }
  std::string to_string() const {
    return is_floating(dtype_) ? std::to_string(float_) : std::to_string(int_);
  }

 private:
  template <typename T>
  static constexpr DataType dtype_for() {
    if constexpr (std::is_same_v<T, bool>)
      return DataType::BOOL;
    else
      return std::is_floating_point_v<T> ? DataType::FLOAT64 : DataType::INT64;
  }
  DataType dtype_;
  union {
    double float_;
    int64_t int_;
  };
};

/// A list of integers (shapes, axes, section sizes), inline for up to kMaxNdim entries.
class IntArray {
 public:
  IntArray() = default;
  IntArray(std::initializer_list<int64_t> values)
      : IntArray(std::span(values.begin(), values.size())) {}
  explicit(false) IntArray(const std::vector<int64_t>& values)
      : IntArray(std::span<const int64_t>(values)) {}
  explicit(false) IntArray(const Dims& dims)
      : IntArray(std::span(dims.begin(), static_cast<size_t>(dims.ndim()))) {}
  explicit IntArray(std::span<const int64_t> values) {
    for (int64_t value : values) values_.push_back(value);
  }

  std::span<const int64_t> values() const { return values_; }
  explicit(false) operator std::span<const int64_t>() const { return values(); }
  int size() const { return static_cast<int>(values_.size()); }
  bool empty() const { return size() == 0; }
  int64_t operator[](int i) const { return values_[i]; }
  friend bool operator==(const IntArray& a, const IntArray& b) {
    return std::equal(a.values_.begin(), a.values_.end(), b.values_.begin(), b.values_.end());
  }
  /// "[2,3,4]"
  std::string to_string() const;

 private:
  InlineVector<int64_t, kMaxNdim> values_;
};

}  // namespace phi
