// Interpolation of images on the CPU: passes along one dim after the other.
#include <algorithm>

#include "phi/kernels/cpu/words.h"
#include "phi/kernels/image/taps.h"

namespace phi {
namespace {

template <typename C>
void resample(const CpuContext&, const Taps<C>& taps, int64_t outer, int64_t inner, const C* x,
              C* y) {
  const int64_t each = taps.each;
  for (int64_t i = 0; i < outer; ++i, x += taps.in * inner) {
    const int64_t* from = taps.from.data();
    const C* weight = taps.weight.data();
    for (int64_t o = 0; o < taps.out; ++o, y += inner, from += each, weight += each) {
      if (inner == 1) {
        C sum = weight[0] * x[from[0]];
        for (int64_t k = 1; k < each; ++k) sum += weight[k] * x[from[k]];
        *y = sum;
        continue;
      }
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

#include "phi/kernels/tables/image/interp.h"
