// Indexing of tensors by numbers and ranges: the arguments and results of Tensor's [] and ().
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

/// The index of one tensor dim: a number or a half-open range. Negative values count from the end.
class TensorIndex {
 public:
  /// Selects one element of the tensor dim. The result does not have this tensor dim.
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

/// The end of a range that reaches to the end of the tensor dim.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// `:` and `begin:end` in Python; `end` is excluded.
inline TensorIndex range() { return TensorIndex::between(0, kEnd); }
inline TensorIndex range(int64_t begin, int64_t end) { return TensorIndex::between(begin, end); }

/// A reference to a part of a tensor; keeps a handle on the tensor. It converts to Tensor: the
/// conversion returns the elements at that moment, with the semantics of a copy. Assigning a value
/// to it writes to the tensor, inplace.
///
/// Shapes     A tensor dim indexed by a number is removed. One indexed by a range has the range's
///            length. Tensor dims after the last index are whole.
/// Ranks      Collective over the tensor's mesh: a read calls the operator slice, an assignment
///            slice_scatter_. A read first gathers each tensor dim that is indexed; other tensor
///            dims keep their placements, so x(range(), i) of sharded rows sends nothing. An
///            assignment keeps x's placements: the value is resharded, and each rank writes its
///            share of the part.
/// Gradients  Flow through reads and assignments, to the tensor and to the value. An assignment to
///            a leaf that requires a gradient is an error, unless under NoGrad.
/// Errors     OutOfRange, which names index, tensor dim and shape, for a number or bound outside
///            the extent and for a range that ends before it begins; InvalidArgument for more
///            indices than tensor dims.
class TensorPart {
 public:
  /// Returns the elements as a new tensor, with the semantics of a copy.
  Tensor get() const;
  explicit(false) operator Tensor() const { return get(); }

  /// The part's shape, without tensor dims indexed by a number.
  Dims shape() const;
  DataType dtype() const { return whole_.dtype(); }
  template <typename T>
  std::vector<T> to_vector() const {
    return get().to_vector<T>();
  }
  double item() const { return get().item(); }
  Tensor to(DataType dtype) const { return get().to(dtype); }
  /// For example "part [2,0:4] of f32[8,4]". The whole tensor prints as the tensor itself.
  std::string to_string() const;

  /// Index the part; positions count within it.
  TensorPart operator[](const TensorIndex& index) const { return part({&index, 1}); }
  template <std::convertible_to<TensorIndex>... Indices>
  TensorPart operator()(const Indices&... indices) const {
    const std::array<TensorIndex, sizeof...(indices)> list = {TensorIndex(indices)...};
    return part(list);
  }

  /// Writes `value` to this part of the tensor; handles and views that share its bytes see it. A
  /// value of another shape is broadcast. Errors: InvalidArgument, which names both, for a shape
  /// that does not broadcast to the part's, for another dtype, and for a distributed value where
  /// the tensor is plain; for a number, the errors that operators.h lists.
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
  /// Assigns the elements and does not rebind the reference: x[0] = x[1] writes to x.
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
  // The range that is selected in one tensor dim of the whole tensor.
  struct DimRange {
    int64_t begin;
    int64_t size;
    bool is_whole;
    bool is_gone;  // indexed by a number
  };
  explicit TensorPart(const Tensor& whole);
  TensorPart part(std::span<const TensorIndex> indices) const;
  // The arguments of slice and slice_scatter_.
  struct SliceArguments;
  SliceArguments arguments() const;

  Tensor whole_;
  std::vector<DimRange> extents_;  // by tensor dim of the whole
};

inline TensorPart Tensor::operator[](const TensorIndex& index) const {
  return TensorPart(*this)[index];
}

template <typename... Indices>
TensorPart Tensor::operator()(const Indices&... indices) const {
  return TensorPart(*this)(indices...);
}

}  // namespace phi
