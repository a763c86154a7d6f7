// Rows of elementwise kernels, cut into blocks for a BlockFunction. The output may be one of the
// inputs, element for element, but must not overlap an input in any other way.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loops/block_function.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/functors/hd.h"

namespace phi::detail {

/// The type of a BlockFunction's results for outputs of type Out: float for 16-bit floats.
template <typename Out>
using block_result_t = std::conditional_t<kIs16Bit<Out>, float, Out>;

/// The BlockFunction that computes elements of Out from elements of T.
template <typename T, typename Out, size_t kInputs, bool kBroadcasts>
using RowFunction = BlockFunction<compute_t<T>, block_result_t<Out>, kInputs, kBroadcasts>;

/// Reads one input along a row, a block at a time, in the compute type.
template <typename T, bool kTakesScalars>
class RowOperand {
 public:
  using C = compute_t<T>;
  void begin(const T* row, bool is_still, int64_t count) {
    row_ = row;
    is_still_ = is_still;
    if (!is_still) return;
    std::fill_n(buffer_, kTakesScalars ? 1 : std::min(count, kConvertBlock), static_cast<C>(*row));
  }
  const C* block(int64_t at, int64_t count) {
    if (is_still_) return buffer_;
    if constexpr (kIs16Bit<T>) {
      convert(row_ + at, buffer_, count);
      return buffer_;
    } else {
      return row_ + at;
    }
  }

 private:
  const T* row_ = nullptr;
  bool is_still_ = false;
  alignas(64) C buffer_[kConvertBlock];
};

/// Runs a function over rows by blocks, for elements that need conversion, or for still inputs if
/// the function has no instantiation for them.
template <typename T, size_t kInputs, typename Out, bool kBroadcasts>
class BlockwiseRows {
 public:
  using Function = RowFunction<T, Out, kInputs, kBroadcasts>;
  BlockwiseRows(const Function& f, ScalarInputs still) : f_(f), still_(still) {}

  void run(const std::array<const T*, kInputs>& rows, Out* out, int64_t count) {
    for (size_t k = 0; k < kInputs; ++k) operands_[k].begin(rows[k], still_ >> k & 1, count);
    std::array<const compute_t<T>*, kInputs> in;
    for (int64_t i = 0; i < count; i += kConvertBlock) {
      const int64_t n = std::min(kConvertBlock, count - i);
      for (size_t k = 0; k < kInputs; ++k) in[k] = operands_[k].block(i, n);
      if constexpr (kIs16Bit<Out>) {
        f_(in, kStill ? still_ : 0, result_, n);
        convert(result_, out + i, n);
      } else {
        f_(in, kStill ? still_ : 0, out + i, n);
      }
    }
  }

 private:
  static constexpr bool kStill = Function::kTakesScalars;
  const Function& f_;
  const ScalarInputs still_;
  std::array<RowOperand<T, kStill>, kInputs> operands_;
  alignas(64) block_result_t<Out> result_[kIs16Bit<Out> ? kConvertBlock : 1];
};

/// Rows shorter than this are processed several at a time, if possible.
inline constexpr int64_t kShortRow = 32;

/// Processes several short rows as one. An operand that repeats its row (a bit of `repeated`) is
/// copied as often as its row fits into a block.
template <typename T, size_t kInputs>
class RowTiles {
 public:
  using RowPointers = std::array<const T*, kInputs>;
  RowTiles(int64_t row, unsigned repeated)
      : row_(row), length_(kConvertBlock / row * row), repeated_(repeated) {}

  /// Calls run(rows, out, length) for `count` contiguous elements of out. Operands of `still` are
  /// single elements.
  template <typename Out, typename Run>
  void for_each(RowPointers rows, ScalarInputs still, Out* out, int64_t count, Run run) {
    for (size_t k = 0; k < kInputs; ++k) {
      if (repeated_ >> k & 1) rows[k] = tile_of(rows[k], tiles_[k], count);
    }
    const unsigned stays = repeated_ | still;
    for (int64_t i = 0; i < count; i += length_) {
      run(rows, out + i, std::min(length_, count - i));
      for (size_t k = 0; k < kInputs; ++k) rows[k] += stays >> k & 1 ? 0 : length_;
    }
  }

 private:
  const T* tile_of(const T* row, T* tile, int64_t count) const {
    for (int64_t i = 0; i < std::min(length_, count); i += row_) std::copy_n(row, row_, tile + i);
    return tile;
  }

  const int64_t row_;
  const int64_t length_;
  const unsigned repeated_;
  T tiles_[kInputs][kConvertBlock];
};

/// Sets out[i] = f(in[0][i], in[1][i], ..) for n elements of arrays of one shape.
template <typename T, size_t kInputs, typename Out>
void run_array(const std::array<const T*, kInputs>& data, Out* out, int64_t n,
               const RowFunction<T, Out, kInputs, false>& f) {
  if constexpr (!kIs16Bit<T> && !kIs16Bit<Out>) {
    f(data, 0, out, n);
  } else {
    BlockwiseRows<T, kInputs, Out, false>(f, 0).run(data, out, n);
  }
}

/// run_array for inputs that broadcast to out's dims.
template <typename T, size_t kInputs, typename Out>
void run_broadcast(const std::array<const T*, kInputs>& data,
                   const std::array<const Dims*, kInputs>& dims, Out* out, const Dims& out_dims,
                   const RowFunction<T, Out, kInputs, true>& f) {
  if (out_dims.numel() == 0) return;
  const Broadcast<static_cast<int>(kInputs)> walk(out_dims, dims);
  ScalarInputs still = 0;
  for (size_t k = 0; k < kInputs; ++k)
    still |= walk.inner_stride(static_cast<int>(k)) == 0 ? 1u << k : 0u;
  const auto rows_at = [&](const std::array<int64_t, kInputs>& from) {
    std::array<const T*, kInputs> rows;
    for (size_t k = 0; k < kInputs; ++k) rows[k] = data[k] + from[k];
    return rows;
  };
  const auto repeated =
      walk.row_length() < kShortRow ? walk.repeated_rows() : std::optional<unsigned>();
  const auto for_each_row = [&](auto run) {
    if (!repeated) {
      return walk.for_each_row([&](int64_t at, const auto& from, int64_t count) {
        run(rows_at(from), out + at, count);
      });
    }
    RowTiles<T, kInputs> tiles(walk.row_length(), *repeated);
    walk.for_each_run(2, [&](int64_t at, const auto& from, int64_t count) {
      tiles.for_each(rows_at(from), still, out + at, count, run);
    });
  };
  if constexpr (!kIs16Bit<T> && !kIs16Bit<Out>) {
    if (still == 0 || (f.kTakesScalars && still != 3)) {
      if (repeated)
        return for_each_row([&](const auto& rows, Out* to, int64_t n) { f(rows, still, to, n); });
      return walk.for_each_run(2, [&](int64_t at, const auto& from, int64_t) {
        f(rows_at(from), still, out + at, walk.row_length(), {walk.rows(), walk.row_strides()});
      });
    }
  }
  BlockwiseRows<T, kInputs, Out, true> blocks(f, still);
  for_each_row([&](const auto& rows, Out* to, int64_t n) { blocks.run(rows, to, n); });
}

}  // namespace phi::detail
