// Causal softmax of square scores, and its gradient, on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fused_attention.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// Calls f(row, number of keys that its query sees) for all local rows.
template <typename F>
void for_each_row(const KernelContext& ctx, const DenseTensor& x, F f) {
  const int64_t queries = x.dims()[2];
  const int64_t first = ctx.input_box(0, x.dims()).box.offset[2];
  const int64_t rows = x.dims().numel(0, 3);
  for (int64_t r = 0; r < rows; ++r) f(r, std::min(first + r % queries + 1, x.dims()[3]));
}

}  // namespace

/// Softmax along the last tensor dim over the keys up to i for query i; 0 for the other keys.
template <typename T, typename Context>
void FusedSoftmaxMaskUpperTriangleKernel(const Context& ctx, const DenseTensor& X,
                                         DenseTensor* Out) {
  using C = compute_t<T>;
  const int64_t n = X.dims()[3];
  RowReader<T> reader(X.data<T>(), n);
  RowWriter<T> writer(Out->mutable_data<T>(), n);
  run_best_isa<C>([&] {
    for_each_row(ctx, X, [&](int64_t r, int64_t seen) {
      const C* row = reader.row(r);
      C* to = writer.row(r);
      const C factor = C(1) / row_exp_sum(row, seen, row_max(row, seen), to);
#pragma GCC ivdep
      for (int64_t i = 0; i < seen; ++i) to[i] *= factor;
      std::fill(to + seen, to + n, C(0));
      writer.done(r);
    });
  });
}

/// X_grad = Out * (Out_grad - sum of Out * Out_grad). Hidden keys contribute 0 because their Out is
/// 0.
template <typename T, typename Context>
void FusedSoftmaxMaskUpperTriangleGradKernel(const Context& ctx, const DenseTensor& Out,
                                             const DenseTensor& Out_grad, DenseTensor* X_grad) {
  using C = compute_t<T>;
  const int64_t n = Out.dims()[3];
  RowReader<T> outs(Out.data<T>(), n);
  RowReader<T> grads(Out_grad.data<T>(), n);
  RowWriter<T> writer(X_grad->mutable_data<T>(), n);
  run_best_isa<C>([&] {
    for_each_row(ctx, Out, [&](int64_t r, int64_t seen) {
      const C* out = outs.row(r);
      const C* grad = grads.row(r);
      C* to = writer.row(r);
      const C product = row_sum<C>(seen, [=](int64_t i) { return out[i] * grad[i]; });
#pragma GCC ivdep
      for (int64_t i = 0; i < seen; ++i) to[i] = out[i] * (grad[i] - product);
      std::fill(to + seen, to + n, C(0));
      writer.done(r);
    });
  });
}

PHI_REGISTER_KERNEL(fused_softmax_mask_upper_triangle, CPU, FusedSoftmaxMaskUpperTriangleKernel,
                    Floats);
PHI_REGISTER_KERNEL(fused_softmax_mask_upper_triangle_grad, CPU,
                    FusedSoftmaxMaskUpperTriangleGradKernel, Floats);

}  // namespace phi
