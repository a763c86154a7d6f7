// Parts of a tensor by numbers and ranges: what Tensor's [] and () take and give.
//
//   Tensor row = x[2];                            // one tensor dim less
//   Tensor last = x(range(0, 4), range(), -1);    // as x[0:4, :, -1] in Python
//   x(range(0, 4)) = 0.0f;                        // writes to x
//   x[0][1].assign(y);                            // the same as x(0, 1) = y
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "api/tensor/operators.h"
#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi {

/// A number, or a range of them, of one tensor dim. Negative ones count from the end.
class TensorIndex {
 public:
  /// That number; the tensor dim goes.
  template <std::integral T>
  requires(!std::same_as<T, bool>) explicit(false) TensorIndex(T number)
      : begin_(static_cast<int64_t>(number)), end_(begin_), is_number_(true) {}
  static TensorIndex between(int64_t begin, int64_t end) { return {begin, end, false}; }

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  bool is_number() const { return is_number_; }

 private:
  TensorIndex(int64_t begin, int64_t end, bool is_number)
      : begin_(begin), end_(end), is_number_(is_number) {}
  int64_t begin_;
  int64_t end_;
  bool is_number_;
};

/// As the end of a range: where the tensor dim ends.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// `:` and `begin:end` in Python; end itself is not in it.
inline TensorIndex range() { return TensorIndex::between(0, kEnd); }
inline TensorIndex range(int64_t begin, int64_t end) { return TensorIndex::between(begin, end); }

/// A part of a tensor, of which it holds a handle. Wherever a tensor is taken it becomes one: a
/// copy of the elements as they are then. Given a value it writes to the tensor, inplace.
///
/// Shapes   Tensor dims indexed by a number are gone, by a range they have its length; those after
///          the last index are whole.
/// Ranks    Collective over the tensor's mesh, as the operators slice and slice_scatter_ that do
///          it. To read, a tensor dim that is indexed is made whole first, others stay as they
///          lie; x(range(), i) of rows that are sharded sends nothing. To assign, x stays as it
///          lies, each rank writes what it has of the part, and the value is brought there.
/// Gradients go through both, to the tensor and to the value. A leaf that requires one is not
///          written to, unless under NoGrad.
/// Errors   OutOfRange, naming index, tensor dim and shape, for a number or a bound outside, and
///          for a range that ends before it begins; InvalidArgument for more indices than tensor
///          dims.
class TensorPart {
 public:
  /// The elements, as a tensor of their own.
  Tensor get() const;
  explicit(false) operator Tensor() const { return get(); }

  /// Of the part.
  Dims shape() const;
  DataType dtype() const { return whole_.dtype(); }
  template <typename T>
  std::vector<T> to_vector() const {
    return get().to_vector<T>();
  }
  double item() const { return get().item(); }
  Tensor to(DataType dtype) const { return get().to(dtype); }
  /// "x[2,0:4] of f32[8,4]", say.
  std::string to_string() const;

  /// Parts of the part.
  TensorPart operator[](const TensorIndex& index) const { return part({&index, 1}); }
  template <std::convertible_to<TensorIndex>... Indices>
  TensorPart operator()(const Indices&... indices) const {
    const std::array<TensorIndex, sizeof...(indices)> list = {TensorIndex(indices)...};
    return part(list);
  }

  /// The tensor has `value` here from now on; whoever shares its bytes sees it. A value of another
  /// shape is broadcast. Errors: InvalidArgument, naming both, for a shape that does not broadcast
  /// to the part's and for another dtype; for a number as operators.h says.
  void assign(const Tensor& value) const;
  void assign(const Scalar& value) const;
  TensorPart& operator=(const Tensor& value) {
    assign(value);
    return *this;
  }
  TensorPart& operator=(const Scalar& value) {
    assign(value);
    return *this;
  }
  /// Assigns the elements too: x[0] = x[1].
  TensorPart& operator=(const TensorPart& value) {
    assign(value.get());
    return *this;
  }
  TensorPart(const TensorPart&) = default;
  template <typename T>
  TensorPart& operator+=(const T& value) {
    return *this = get() + value;
  }
  template <typename T>
  TensorPart& operator-=(const T& value) {
    return *this = get() - value;
  }
  template <typename T>
  TensorPart& operator*=(const T& value) {
    return *this = get() * value;
  }
  template <typename T>
  TensorPart& operator/=(const T& value) {
    return *this = get() / value;
  }

 private:
  friend class Tensor;
  // What is left of one tensor dim of the whole.
  struct Extent {
    int64_t begin;
    int64_t size;
    bool is_whole;
    bool is_gone;  // indexed by a number
  };
  explicit TensorPart(const Tensor& whole);
  TensorPart part(std::span<const TensorIndex> indices) const;
  // What the operators take.
  struct SliceArguments;
  SliceArguments arguments() const;

  Tensor whole_;
  std::vector<Extent> extents_;  // by tensor dim of the whole
};

inline TensorPart Tensor::operator[](const TensorIndex& index) const {
  return TensorPart(*this)[index];
}

template <typename... Indices>
TensorPart Tensor::operator()(const Indices&... indices) const {
  return TensorPart(*this)(indices...);
}

}  // namespace phi
