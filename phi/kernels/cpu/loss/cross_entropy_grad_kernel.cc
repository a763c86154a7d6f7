// The gradient of softmax with cross entropy on the CPU, for whole or sharded classes.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loss/class_rows.h"

namespace phi {
namespace {

/// Computes row after row: calls `fill(r, shares, g, grads)`, where g is the row's loss_grad.
template <typename T, typename Fill>
void each_row(const DenseTensor& softmax, const DenseTensor& loss_grad, const ClassLayout& layout,
              DenseTensor* input_grad, Fill fill) {
  using C = compute_t<T>;
  ClassRows<T> shares(layout);
  ClassRows<T> grads(layout);
  const T* from = softmax.data<T>();
  const T* losses = loss_grad.data<T>();
  T* to = input_grad->mutable_data<T>();
  run_best_isa<C>([&] {
    for (int64_t r = 0; r < layout.rows(); ++r) {
      C* row = grads.place(r, to);
      fill(r, shares.read(from, r), static_cast<C>(losses[r]), row);
      grads.write(row, r, to);
    }
  });
}

template <typename C>
void hard_row(const C* shares, int64_t n, int64_t here, bool use_softmax, C g, C* grads) {
  if (!use_softmax) {
    std::fill_n(grads, n, C(0));
    if (here >= 0) grads[here] = -g / shares[here];
    return;
  }
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c) grads[c] = shares[c] * g;
  if (here >= 0) grads[here] = (shares[here] - C(1)) * g;
}

template <typename C>
void soft_row(const C* shares, const C* weights, int64_t n, C total, bool use_softmax, C g,
              C* grads) {
  if (use_softmax) {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) grads[c] = (shares[c] * total - weights[c]) * g;
  } else {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c)
      grads[c] = weights[c] == C(0) ? C(0) : -g * weights[c] / shares[c];
  }
}

}  // namespace

/// With use_softmax, `softmax` is softmax(input) and
///   | input_grad = (softmax * sum(label) - label) * loss_grad,
/// where a hard label is one-hot and the sum is over the classes. Otherwise `softmax` is a copy of
/// the input probabilities, and input_grad = -label / softmax * loss_grad; the quotient is 0 for a
/// class of weight 0. Rows whose hard label is `ignore_index` are 0.
///
/// Hard labels have extent 1 in the class dim, or lack it, and have global class numbers. If the
/// classes are sharded, each rank computes its part.
///
/// Errors   InvalidArgument with the row and its label.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxGradKernel(const Context& ctx, const DenseTensor& label,
                                       const DenseTensor& softmax, const DenseTensor& loss_grad,
                                       bool soft_label, bool use_softmax, int ignore_index,
                                       int axis, DenseTensor* input_grad) {
  using C = compute_t<T>;
  constexpr int kSoftmaxInput = 1;
  const ClassLayout layout = class_layout(softmax.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(kSoftmaxInput, softmax.dims());
  ClassLabels<T> labels(label, layout, box, soft_label, ignore_index);
  const int64_t n = layout.classes;
  if (!soft_label) {
    return each_row<T>(softmax, loss_grad, layout, input_grad,
                       [&](int64_t r, const C* shares, C g, C* grads) {
                         if (!labels.ignored(r)) {
                           hard_row(shares, n, labels.local_class(r), use_softmax, g, grads);
                         } else {
                           std::fill_n(grads, n, C(0));
                         }
                       });
  }
  RowNumbers<C> totals(ctx, layout.rows());
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const C* weights = labels.weights(r);
    totals[r] = row_sum<C>(n, [=](int64_t c) { return weights[c]; });
  }
  if (classes_sharded(ctx, box, layout.axis))
    totals.combine(ctx, kSoftmaxInput, layout.axis, CombineKind::kSum);
  each_row<T>(softmax, loss_grad, layout, input_grad,
              [&](int64_t r, const C* shares, C g, C* grads) {
                soft_row(shares, labels.weights(r), n, totals[r], use_softmax, g, grads);
              });
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax_grad, CPU, CrossEntropyWithSoftmaxGradKernel,
                    Floats);

template <typename T, typename Context>
void CrossEntropyWithSoftmaxGradDry(const Context& ctx, const DenseTensor&,
                                    const DenseTensor& softmax, const DenseTensor&, bool soft_label,
                                    bool, int, int axis, DenseTensor*) {
  const ClassLayout layout = class_layout(softmax.dims(), axis);
  if (!soft_label || layout.rows() == 0) return;
  const bool sharded = classes_sharded(ctx, ctx.input_box(1, softmax.dims()), layout.axis);
  combine_dry<compute_t<T>>(ctx, 1, layout, 1, sharded);
}

PHI_REGISTER_DRY_KERNEL(cross_entropy_with_softmax_grad, CrossEntropyWithSoftmaxGradDry, Floats);

}  // namespace phi
