// Gradient of softmax with cross entropy on GPUs, over whole or sharded classes.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/gpu/loss/class_lines.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::Targets;

/// What all rows need.
template <typename T>
struct Gradient {
  using C = compute_t<T>;
  const T* softmax;
  const T* loss_grad;
  AxisLines lines;
  Targets<T> targets;
  bool use_softmax;
  T* input_grad;

  __device__ C share(int64_t at) const { return static_cast<C>(softmax[at]); }
  __device__ C loss(int64_t line) const { return static_cast<C>(loss_grad[line]); }
};

/// Rows whose label is ignored are 0.
template <typename T>
struct HardRow {
  using C = compute_t<T>;
  Gradient<T> gradient;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = gradient.lines.start(line);
    const auto& hard = gradient.targets.hard;
    const bool is_ignored = hard.is_ignored(line);
    const int64_t here = hard.here(line);
    const C g = gradient.loss(line);
    team.each(gradient.lines.n, [&](int64_t k) {
      const int64_t at = first + gradient.lines.at(k);
      gradient.input_grad[at] =
          static_cast<T>(is_ignored ? C(0) : element(gradient.share(at), k == here, g));
    });
  }
  __device__ C element(C share, bool is_label, C g) const {
    if (!gradient.use_softmax) return is_label ? -g / share : C(0);
    return is_label ? (share - C(1)) * g : share * g;
  }
};

/// The sum of the weights of a row's classes here.
template <typename T, typename Team>
__device__ compute_t<T> total_weight(const Team& team, const Gradient<T>& gradient, int64_t line) {
  const int64_t first = gradient.lines.start(line);
  return team.template sum<compute_t<T>>(gradient.lines.n, [&](int64_t k) {
    return gradient.targets.weight(first + gradient.lines.at(k));
  });
}

template <typename T>
struct TotalOfRow {
  Gradient<T> gradient;
  compute_t<T>* totals;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const auto total = total_weight(team, gradient, line);
    if (team.index() == 0) totals[line] = total;
  }
};

/// `totals` are the weights' over all ranks; null: over the classes here.
template <typename T>
struct SoftRow {
  using C = compute_t<T>;
  Gradient<T> gradient;
  const C* totals;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = gradient.lines.start(line);
    const C total = totals ? totals[line] : total_weight(team, gradient, line);
    const C g = gradient.loss(line);
    team.each(gradient.lines.n, [&](int64_t k) {
      const int64_t at = first + gradient.lines.at(k);
      const C weight = gradient.targets.weight(at);
      gradient.input_grad[at] = static_cast<T>(element(gradient.share(at), weight, total, g));
    });
  }
  __device__ C element(C share, C weight, C total, C g) const {
    if (gradient.use_softmax) return (share * total - weight) * g;
    return weight == C(0) ? C(0) : -g * weight / share;
  }
};

}  // namespace

/// As on the CPU; the error of a label that is no class rises where the host waits.
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
  const Gradient<T> gradient{softmax.data<T>(),
                             loss_grad.data<T>(),
                             lines,
                             gpu::targets_of<T>(ctx, label, layout, box, soft_label, ignore_index),
                             use_softmax,
                             input_grad->mutable_data<T>()};
  if (!soft_label) return for_each_line(ctx, lines, HardRow<T>{gradient});
  if (!classes_sharded(ctx, box, layout.axis))
    return for_each_line(ctx, lines, SoftRow<T>{gradient, nullptr});
  RowNumbers<compute_t<T>> totals(ctx, layout.rows());
  for_each_line(ctx, lines, TotalOfRow<T>{gradient, totals.data()});
  totals.combine(ctx, kSoftmaxInput, layout.axis, CombineKind::kSum);
  for_each_line(ctx, lines, SoftRow<T>{gradient, totals.data()});
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax_grad, GPU, CrossEntropyWithSoftmaxGradKernel,
                    Floats);

}  // namespace phi
