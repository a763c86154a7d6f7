// Softmax of scores with a causal mask, and its gradient, on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fused_attention.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

/// Rows of scores [batch, heads, queries, keys], and the number of keys that each row sees.
struct TriangleRows {
  int64_t count;
  int64_t queries;
  int64_t keys;
  int64_t first;  // global index of this rank's first query

  TriangleRows(const KernelContext& ctx, const DenseTensor& x)
      : count(x.dims().numel(0, 3)),
        queries(x.dims()[2]),
        keys(x.dims()[3]),
        first(ctx.input_box(0, x.dims()).box.offset[2]) {}

  gpu::AxisLines lines() const { return gpu::AxisLines::rows(count, keys); }
  __device__ int64_t seen(int64_t row) const {
    const int64_t end = first + row % queries + 1;
    return end < keys ? end : keys;
  }
};

template <typename T>
struct TriangleLine {
  TriangleRows rows;
  const T* x;
  T* out;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const T* const row = x + line * rows.keys;
    T* const to = out + line * rows.keys;
    const int64_t seen = rows.seen(line);
    const auto value = [&](int64_t k) { return static_cast<C>(row[k]); };
    const C most = team.template largest<C>(seen, value);
    const auto power = [&](int64_t k) { return fast::exp_or_zero(value(k) - most); };
    const C factor = C(1) / team.template sum<C>(seen, power);
    team.each(rows.keys,
              [&](int64_t k) { to[k] = k < seen ? static_cast<T>(power(k) * factor) : T(0.0f); });
  }
};

template <typename T>
struct TriangleGradLine {
  TriangleRows rows;
  const T* out;
  const T* out_grad;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const int64_t start = line * rows.keys;
    const int64_t seen = rows.seen(line);
    const auto y = [&](int64_t k) { return static_cast<C>(out[start + k]); };
    const auto g = [&](int64_t k) { return static_cast<C>(out_grad[start + k]); };
    const C sum = team.template sum<C>(seen, [&](int64_t k) { return y(k) * g(k); });
    team.each(rows.keys, [&](int64_t k) {
      x_grad[start + k] = k < seen ? static_cast<T>(y(k) * (g(k) - sum)) : T(0.0f);
    });
  }
};

}  // namespace

/// Softmax along the last tensor dim: query i sees the keys up to i; the others become 0.
template <typename T, typename Context>
void FusedSoftmaxMaskUpperTriangleKernel(const Context& ctx, const DenseTensor& X,
                                         DenseTensor* Out) {
  if (X.numel() == 0) return;
  const TriangleRows rows(ctx, X);
  gpu::for_each_line(ctx, rows.lines(), TriangleLine<T>{rows, X.data<T>(), Out->mutable_data<T>()});
}

/// X_grad = Out * (Out_grad - sum of Out * Out_grad). Hidden keys have Out 0 and need no mask.
template <typename T, typename Context>
void FusedSoftmaxMaskUpperTriangleGradKernel(const Context& ctx, const DenseTensor& Out,
                                             const DenseTensor& Out_grad, DenseTensor* X_grad) {
  if (Out.numel() == 0) return;
  const TriangleRows rows(ctx, Out);
  gpu::for_each_line(
      ctx, rows.lines(),
      TriangleGradLine<T>{rows, Out.data<T>(), Out_grad.data<T>(), X_grad->mutable_data<T>()});
}

PHI_REGISTER_KERNEL(fused_softmax_mask_upper_triangle, GPU, FusedSoftmaxMaskUpperTriangleKernel,
                    Floats);
PHI_REGISTER_KERNEL(fused_softmax_mask_upper_triangle_grad, GPU,
                    FusedSoftmaxMaskUpperTriangleGradKernel, Floats);

}  // namespace phi
