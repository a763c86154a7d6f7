// Broadcast: walks a row-major output together with N operands that broadcast to its dims.
//
//   Broadcast<1> walk(out_dims, {&x_dims});
//   walk.for_each_row(
//       [&](int64_t out_at, const std::array<int64_t, 1>& x_at, int64_t count) { ... });
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "phi/common/dims.h"

namespace phi {

/// Adjacent tensor dims are merged into one loop if all operands allow it, so that rows are as long
/// as possible. Within a row an operand's stride is inner_stride, 0 or 1.
template <int kOperands>
class Broadcast {
  static_assert(kOperands <= 4,
                "broadcast.cc has no instantiation for this number of operands: add yours there");

 public:
  using OperandOffsets = std::array<int64_t, kOperands>;

  /// `out` has at least one element, and every operand broadcasts to it.
  Broadcast(const Dims& out, const std::array<const Dims*, kOperands>& operands);

  int64_t inner_stride(int operand) const { return strides_[0][operand]; }
  int64_t row_length() const { return sizes_[0]; }
  /// Number of rows in a run of the two innermost loops, and the row stride of each operand.
  int64_t rows() const { return sizes_[1]; }
  const OperandOffsets& row_strides() const { return strides_[1]; }

  /// Returns, as bits, the operands that repeat the same row along the second-innermost loop.
  /// Returns nullopt unless all other operands continue from row to row, or are one element
  /// throughout.
  std::optional<unsigned> repeated_rows() const;

  /// Calls f(offset in out, offsets in the operands, length) for each row, in order.
  template <typename F>
  void for_each_row(F f) const {
    for_each_run(1, f);
  }

  /// Like for_each_row, for runs of rows that consist of the `dims` innermost loops of this walk (1
  /// or 2).
  template <typename F>
  void for_each_run(int dims, F f) const {
    walk(dims, &f, [](void* to, int64_t at, const OperandOffsets& from, int64_t count) {
      (*static_cast<F*>(to))(at, from, count);
    });
  }

 private:
  // Instantiated per number of operands, not per f.
  void walk(int dims, void* f,
            void (*run)(void* f, int64_t at, const OperandOffsets& from, int64_t count)) const;
  // Adds the next outer tensor dim, merged with the last loop if all operands continue evenly.
  void append(int64_t size, const OperandOffsets& stride);

  int ndim_ = 0;  // innermost first; 0: one element
  std::array<int64_t, kMaxNdim> sizes_;
  std::array<OperandOffsets, kMaxNdim> strides_;
};

}  // namespace phi
