// Broadcast: walks a row-major output beside N operands that are stretched to its dims.
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

/// Neighbouring tensor dims that every operand walks alike are one loop, so that rows are as long
/// as can be. Within a row each operand moves by inner_stride, 0 or 1.
template <int kOperands>
class Broadcast {
  static_assert(kOperands <= 4, "broadcast.cc has no walk of as many operands: add yours there");

 public:
  using Offsets = std::array<int64_t, kOperands>;

  /// `out` has at least one element, and every operand broadcasts to it.
  Broadcast(const Dims& out, const std::array<const Dims*, kOperands>& operands);

  int64_t inner_stride(int operand) const { return strides_[0][operand]; }
  int64_t row_length() const { return sizes_[0]; }
  /// How many rows are a run of two dims, and how far each operand moves from one to the next.
  int64_t rows() const { return sizes_[1]; }
  const Offsets& row_strides() const { return strides_[1]; }

  /// Operands that begin a row again for each index of the tensor dim outside of it, as bits, where
  /// all others go on from row to row; those that stand still within rows must beyond them, too.
  std::optional<unsigned> repeated_rows() const;

  /// Calls f(offset in out, offsets in the operands, length) for each row, in order.
  template <typename F>
  void for_each_row(F f) const {
    for_each_run(1, f);
  }

  /// The same for the rows together that `dims` inner dims (of this walk, 1 or 2) are.
  template <typename F>
  void for_each_run(int dims, F f) const {
    walk(dims, &f, [](void* to, int64_t at, const Offsets& from, int64_t count) {
      (*static_cast<F*>(to))(at, from, count);
    });
  }

 private:
  // The walk is compiled for each number of operands, not with each f.
  void walk(int dims, void* f,
            void (*run)(void* f, int64_t at, const Offsets& from, int64_t count)) const;
  // Adds the next outer tensor dim, or lengthens the last one if all operands walk on evenly.
  void append(int64_t size, const Offsets& stride);

  int ndim_ = 0;  // innermost first; 0: one element
  std::array<int64_t, kMaxNdim> sizes_;
  std::array<Offsets, kMaxNdim> strides_;
};

}  // namespace phi
