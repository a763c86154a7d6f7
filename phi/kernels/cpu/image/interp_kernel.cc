// Interpolation of images on the CPU, one dim after the other.
#include <algorithm>
#include <vector>

#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/transpose_matrix.h"
#include "phi/kernels/image/taps.h"

namespace phi {
namespace {

/// Resamples kRows rows [in] to rows [out]; taps are read once for all rows.
template <int kEach, int kRows, typename C>
void resample_rows(const Taps<C>& taps, const C* x, C* y) {
  const int64_t* from = taps.from.data();
  const C* weight = taps.weight.data();
  for (int64_t o = 0; o < taps.out; ++o, from += kEach, weight += kEach) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const C* row = x + r * taps.in;
      C sum = weight[0] * row[from[0]];
#pragma GCC unroll 4
      for (int k = 1; k < kEach; ++k) sum += weight[k] * row[from[k]];
      y[r * taps.out + o] = sum;
    }
  }
}

/// Resamples kBeside interleaved rows.
template <int kEach, int kBeside, typename C>
void resample_beside(const Taps<C>& taps, const C* x, C* y) {
  const int64_t* from = taps.from.data();
  const C* weight = taps.weight.data();
  for (int64_t o = 0; o < taps.out; ++o, from += kEach, weight += kEach, y += kBeside) {
    for (int j = 0; j < kBeside; ++j) {
      C sum = weight[0] * x[from[0] * kBeside + j];
      for (int k = 1; k < kEach; ++k) sum += weight[k] * x[from[k] * kBeside + j];
      y[j] = sum;
    }
  }
}

/// Most bytes that two blocks of rows may use of the L2 cache.
inline constexpr int64_t kMostBytesBeside = 512 << 10;

/// Resamples `count` rows of contiguous elements. Rows are interleaved so that they fill registers,
/// resampled, and separated again.
template <int kEach, typename C>
void resample_elements(const Taps<C>& taps, int64_t count, const C* x, C* y) {
  constexpr int kBeside = 64 / sizeof(C);
  constexpr int kRows = 4;
  const auto elements = static_cast<int64_t>(kMostBytesBeside / sizeof(C));
  if (count >= kBeside && (taps.in + taps.out) * kBeside <= elements) {
    std::vector<C> beside(static_cast<size_t>((taps.in + taps.out) * kBeside));
    C* const results = beside.data() + taps.in * kBeside;
    for (; count >= kBeside; count -= kBeside, x += kBeside * taps.in, y += kBeside * taps.out) {
      transpose_matrix(x, taps.in, beside.data(), kBeside, kBeside, taps.in);
      resample_beside<kEach, kBeside>(taps, beside.data(), results);
      transpose_matrix(results, kBeside, y, taps.out, taps.out, kBeside);
    }
  }
  for (; count >= kRows; count -= kRows, x += kRows * taps.in, y += kRows * taps.out)
    resample_rows<kEach, kRows>(taps, x, y);
  for (; count > 0; --count, x += taps.in, y += taps.out) resample_rows<kEach, 1>(taps, x, y);
}

template <typename C>
void resample(const CpuContext&, const Taps<C>& taps, int64_t outer, int64_t inner, const C* x,
              C* y) {
  const int64_t each = taps.each;
  if (inner == 1) {
    if (each == 1) return resample_elements<1>(taps, outer, x, y);
    if (each == 2) return resample_elements<2>(taps, outer, x, y);
    return resample_elements<4>(taps, outer, x, y);
  }
  for (int64_t i = 0; i < outer; ++i, x += taps.in * inner) {
    const int64_t* from = taps.from.data();
    const C* weight = taps.weight.data();
    for (int64_t o = 0; o < taps.out; ++o, y += inner, from += each, weight += each) {
      const C* row = x + from[0] * inner;
#pragma GCC ivdep
      for (int64_t j = 0; j < inner; ++j) y[j] = weight[0] * row[j];
      for (int64_t k = 1; k < each; ++k) {
        row = x + from[k] * inner;
        const C w = weight[k];
#pragma GCC ivdep
        for (int64_t j = 0; j < inner; ++j) y[j] += w * row[j];
      }
    }
  }
}

template <typename C>
void resample_grad(const CpuContext&, const Taps<C>& taps, int64_t outer, int64_t inner,
                   const C* y_grad, C* x_grad) {
  const int64_t each = taps.each;
  std::fill_n(x_grad, outer * taps.in * inner, C(0));
  for (int64_t i = 0; i < outer; ++i, x_grad += taps.in * inner) {
    for (int64_t o = 0; o < taps.out; ++o, y_grad += inner) {
      if (inner == 1) {
        for (int64_t k = o * each; k < (o + 1) * each; ++k) {
          x_grad[taps.from[k]] += taps.weight[k] * y_grad[0];
        }
        continue;
      }
      for (int64_t k = 0; k < each; ++k) {
        C* row = x_grad + taps.from[o * each + k] * inner;
        const C w = taps.weight[o * each + k];
#pragma GCC ivdep
        for (int64_t j = 0; j < inner; ++j) row[j] += w * y_grad[j];
      }
    }
  }
}

DenseTensor on_host(const CpuContext&, const DenseTensor& x) { return x; }

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/image/interp.h"
