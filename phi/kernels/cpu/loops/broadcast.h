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
#include "phi/kernels/broadcast_dims.h"

namespace phi {

/// Neighbouring tensor dims that every operand walks alike are one loop, so that rows are as long
/// as can be. Within a row each operand moves by inner_stride, 0 or 1.
template <int kOperands>
class Broadcast {
 public:
  using Offsets = std::array<int64_t, kOperands>;

  /// `out` has at least one element, and every operand broadcasts to it.
  Broadcast(const Dims& out, const std::array<const Dims*, kOperands>& operands) {
    sizes_[0] = sizes_[1] = 1;
    strides_[0].fill(0);
    strides_[1].fill(0);
    for_each_broadcast_dim(out, operands,
                           [this](int64_t size, const Offsets& stride) { append(size, stride); });
  }

  int64_t inner_stride(int operand) const { return strides_[0][operand]; }
  int64_t row_length() const { return sizes_[0]; }
  /// How many rows are a run of two dims, and how far each operand moves from one to the next.
  int64_t rows() const { return sizes_[1]; }
  const Offsets& row_strides() const { return strides_[1]; }

  /// Operands that begin a row again for each index of the tensor dim outside of it, as bits, where
  /// all others go on from row to row; those that stand still within rows must beyond them, too.
  std::optional<unsigned> repeated_rows() const {
    if (ndim_ < 2) return std::nullopt;
    unsigned repeated = 0;
    for (int k = 0; k < kOperands; ++k) {
      if (strides_[1][k] == 0) {
        repeated |= static_cast<unsigned>(strides_[0][k]) << k;
      } else if (strides_[1][k] != strides_[0][k] * sizes_[0]) {
        return std::nullopt;
      }
    }
    return repeated;
  }

  /// Calls f(offset in out, offsets in the operands, length) for each row, in order.
  template <typename F>
  void for_each_row(F&& f) const {
    for_each_run(1, f);
  }

  /// The same for the rows together that `dims` inner dims (of this walk, 1 or 2) are.
  template <typename F>
  void for_each_run(int dims, F&& f) const {
    std::array<int64_t, kMaxNdim> index{};
    Offsets from{};
    const int64_t run = dims == 1 ? sizes_[0] : sizes_[0] * sizes_[1];
    for (int64_t at = 0;; at += run) {
      f(at, from, run);
      int d = dims;
      for (; d < ndim_; ++d) {
        for (int k = 0; k < kOperands; ++k) from[k] += strides_[d][k];
        if (++index[d] < sizes_[d]) break;
        for (int k = 0; k < kOperands; ++k) from[k] -= strides_[d][k] * sizes_[d];
        index[d] = 0;
      }
      if (d >= ndim_) return;
    }
  }

 private:
  // Adds the next outer tensor dim, or lengthens the last one if all operands walk on evenly.
  void append(int64_t size, const Offsets& stride) {
    bool merges = ndim_ > 0;
    for (int k = 0; merges && k < kOperands; ++k) {
      merges = stride[k] == strides_[ndim_ - 1][k] * sizes_[ndim_ - 1];
    }
    if (merges) {
      sizes_[ndim_ - 1] *= size;
      return;
    }
    sizes_[ndim_] = size;
    strides_[ndim_++] = stride;
  }

  int ndim_ = 0;  // innermost first; 0: one element
  std::array<int64_t, kMaxNdim> sizes_;
  std::array<Offsets, kMaxNdim> strides_;
};

}  // namespace phi
