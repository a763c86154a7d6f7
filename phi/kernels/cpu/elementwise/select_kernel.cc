// where, add_n and lerp on the CPU. Inputs broadcast to out's dims; out may be the first input.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/cpu/loops/nary_loop.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {
namespace {

// Selects by bit masks of a byte that is 0 or 1: g++ compiles a conditional, or a bool, to branches
// and does not vectorise them.
template <typename W>
W selected(uint8_t condition, W a, W b) {
  const auto ones = static_cast<W>(W(0) - static_cast<W>(condition));
  return static_cast<W>((a & ones) | (b & ~ones));
}
Bits128 selected(uint8_t condition, Bits128 a, Bits128 b) {
  return {selected(condition, a.low, b.low), selected(condition, a.high, b.high)};
}

template <int kStrideX, int kStrideY, typename W>
void select_run(const uint8_t* condition, const W* x, const W* y, W* out, int64_t n) {
  const W x0 = *x;
  const W y0 = *y;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = selected(condition[i], kStrideX ? x[i] : x0, kStrideY ? y[i] : y0);
  }
}

template <typename W>
void select_row(const uint8_t* condition, int64_t condition_stride, const W* x, int64_t x_stride,
                const W* y, int64_t y_stride, W* out, int64_t n) {
  if (condition_stride == 0) {
    const W* selected = *condition ? x : y;
    const int64_t stride = *condition ? x_stride : y_stride;
    for (int64_t i = 0; i < n; ++i) out[i] = selected[i * stride];
  } else if (x_stride == 1) {
    if (y_stride == 1) return select_run<1, 1>(condition, x, y, out, n);
    select_run<1, 0>(condition, x, y, out, n);
  } else {
    if (y_stride == 1) return select_run<0, 1>(condition, x, y, out, n);
    select_run<0, 0>(condition, x, y, out, n);
  }
}

template <typename W>
void select(const DenseTensor& condition, const DenseTensor& x, const DenseTensor& y,
            DenseTensor* out) {
  if (out->numel() == 0) return;
  const auto* c = static_cast<const uint8_t*>(condition.raw_data());
  const W* xs = static_cast<const W*>(x.raw_data());
  const W* ys = static_cast<const W*>(y.raw_data());
  W* result = static_cast<W*>(out->mutable_raw_data());
  const Broadcast<3> walk(out->dims(), {&condition.dims(), &x.dims(), &y.dims()});
  walk.for_each_row([&](int64_t at, const std::array<int64_t, 3>& from, int64_t count) {
    select_row(c + from[0], walk.inner_stride(0), xs + from[1], walk.inner_stride(1), ys + from[2],
               walk.inner_stride(2), result + at, count);
  });
}

/// Sets to[0 .. n) to the sum of elements [begin, begin + n) of all inputs.
template <typename T>
void add_block(std::span<const DenseTensor* const> inputs, int64_t begin, int64_t n, T* to) {
  using C = compute_t<T>;
  const AddFunctor<C> add;
  const auto add_to = [=](const C* a, const C* b, C* sum) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sum[i] = add(a[i], b[i]);
  };
  const T* first = inputs[0]->data<T>() + begin;
  if constexpr (kIs16Bit<T>) {
    C sum[kConvertBlock];
    C term[kConvertBlock];
    convert(first, sum, n);
    for (const DenseTensor* input : inputs.subspan(1)) {
      convert(input->data<T>() + begin, term, n);
      add_to(sum, term, sum);
    }
    convert(sum, to, n);
  } else {
    if (inputs.size() == 1 && to != first) std::copy_n(first, n, to);
    for (const DenseTensor* input : inputs.subspan(1)) {
      add_to(first, input->data<T>() + begin, to);
      first = to;
    }
  }
}

}  // namespace

/// out = condition ? x : y.
template <typename T, typename Context>
void WhereKernel(const Context&, const DenseTensor& condition, const DenseTensor& x,
                 const DenseTensor& y, DenseTensor* out) {
  select<width_t<T>>(condition, x, y, out);
}

/// out = the sum of `inputs`, which all have out's dims.
template <typename T, typename Context>
void AddNKernel(const Context&, std::span<const DenseTensor* const> inputs, DenseTensor* out) {
  // Block by block, so that the running sum stays in the cache, and in float for half precision.
  const int64_t n = out->numel();
  for (int64_t begin = 0; begin < n; begin += kConvertBlock)
    add_block<T>(inputs, begin, std::min(kConvertBlock, n - begin), out->mutable_data<T>() + begin);
}

/// out = x + weight * (y - x).
template <typename T, typename Context>
void LerpKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                const DenseTensor& weight, DenseTensor* out) {
  using C = compute_t<T>;
  nary_loop<T>({&x, &y, &weight}, out, [](C a, C b, C w) { return a + w * (b - a); });
}

PHI_REGISTER_KERNEL(lerp, CPU, LerpKernel, Floats);
PHI_REGISTER_KERNEL(where, CPU, WhereKernel, EveryType);
PHI_REGISTER_KERNEL(add_n, CPU, AddNKernel, EveryType);

}  // namespace phi
