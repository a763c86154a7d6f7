// Gradient of softmax with cross entropy on GPUs, for whole or sharded classes.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/gpu/loss/class_targets.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::Targets;

/// Arguments that all rows share.
template <typename T>
struct Gradient {
  const T* softmax;
  const T* loss_grad;
  Targets<T> targets;
  bool use_softmax;
  T* input_grad;

  __device__ compute_t<T> loss(int64_t line) const {
    return static_cast<compute_t<T>>(loss_grad[line]);
  }
};

/// Hard labels. Rows with an ignored label have gradient 0.
template <typename T>
struct HardRow {
  using C = compute_t<T>;
  Gradient<T> gradient;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto& hard = gradient.targets.hard;
    const bool is_ignored = hard.is_ignored(row.line());
    const int64_t here = hard.here(row.line());
    const C g = gradient.loss(row.line());
    const auto make = [=, *this](C share, int64_t k) {
      return is_ignored ? C(0) : element(share, k == here, g);
    };
    row.write(gradient.input_grad, make, row.read(gradient.softmax), row.numbers());
  }
  __device__ C element(C share, bool is_label, C g) const {
    if (!gradient.use_softmax) return is_label ? -g / share : C(0);
    return is_label ? (share - C(1)) * g : share * g;
  }
};

/// Sum of a row's label weights over the local classes.
template <typename T>
struct TotalOfRow {
  Gradient<T> gradient;
  compute_t<T>* totals;
  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto same = [](compute_t<T> weight) { return weight; };
    const auto total = row.sum(same, row.read(gradient.targets.soft));
    if (row.is_first_thread()) totals[row.line()] = total;
  }
};

/// Soft labels. `totals` has the sums of weights over all ranks; null: computed here from the local
/// classes.
template <typename T>
struct SoftRow {
  using C = compute_t<T>;
  Gradient<T> gradient;
  const C* totals;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto weights = row.read(gradient.targets.soft);
    const C total = totals ? totals[row.line()] : row.sum([](C weight) { return weight; }, weights);
    const C g = gradient.loss(row.line());
    const auto make = [=, *this](C share, C weight) { return element(share, weight, total, g); };
    row.write(gradient.input_grad, make, row.read(gradient.softmax), weights);
  }
  __device__ C element(C share, C weight, C total, C g) const {
    if (gradient.use_softmax) return (share * total - weight) * g;
    return weight == C(0) ? C(0) : -g * weight / share;
  }
};

template <typename T, typename Op>
void visit(const GpuContext& ctx, const AxisLines& lines, const Gradient<T>& gradient,
           const Op& op) {
  for_each_row<T>(ctx, lines, op, gradient.softmax, gradient.targets.soft, gradient.input_grad);
}

}  // namespace

/// Same contract as on the CPU; the error of an invalid label is thrown at the next host
/// synchronisation.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxGradKernel(const Context& ctx, const DenseTensor& label,
                                       const DenseTensor& softmax, const DenseTensor& loss_grad,
                                       bool soft_label, bool use_softmax, int ignore_index,
                                       int axis, DenseTensor* input_grad) {
  constexpr int kSoftmaxInput = 1;
  const ClassLayout layout = class_layout(softmax.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(kSoftmaxInput, softmax.dims());
  const AxisLines lines(softmax.dims(), axis);
  const Gradient<T> gradient{softmax.data<T>(), loss_grad.data<T>(),
                             gpu::targets_of<T>(ctx, label, layout, box, soft_label, ignore_index),
                             use_softmax, input_grad->mutable_data<T>()};
  if (!soft_label) return visit(ctx, lines, gradient, HardRow<T>{gradient});
  if (!classes_sharded(ctx, box, layout.axis))
    return visit(ctx, lines, gradient, SoftRow<T>{gradient, nullptr});
  RowNumbers<compute_t<T>> totals(ctx, layout.rows());
  visit(ctx, lines, gradient, TotalOfRow<T>{gradient, totals.data()});
  totals.combine(ctx, kSoftmaxInput, layout.axis, CombineKind::kSum);
  visit(ctx, lines, gradient, SoftRow<T>{gradient, totals.data()});
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax_grad, GPU, CrossEntropyWithSoftmaxGradKernel,
                    Floats);

}  // namespace phi
