// Softmax with cross entropy on GPUs, for whole or sharded classes.
#include <cmath>
#include <limits>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/loss/class_targets.h"
#include "phi/kernels/gpu/softmax_terms.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::Targets;

/// Row arguments of the kernels below: logits and labels.
template <typename T>
struct Logits {
  using C = compute_t<T>;
  const T* input;
  Targets<T> targets;

  /// The sum over the local classes of label * cost(logit). A term with zero weight is 0.
  template <typename TeamRow, typename Elements, typename Cost>
  __device__ C weigh(const TeamRow& row, const Elements& own, const Cost& cost) const {
    if (!targets.soft) {
      const int64_t here = targets.hard.here(row.line());
      return here >= 0 ? cost(static_cast<C>(input[row.at(here)])) : C(0);
    }
    const auto term = [=](C weight, C logit) {
      return weight == C(0) ? C(0) : weight * cost(logit);
    };
    return row.sum(term, row.read(targets.soft), own);
  }
  template <typename TeamRow, typename Elements>
  __device__ C loss(const TeamRow& row, const Elements& own,
                    const gpu::SoftmaxStatistics<C>& of) const {
    const C log_sum = std::log(of.sum);
    return weigh(row, own, [=](C logit) { return log_sum - (logit - of.most); });
  }
};

template <typename T>
struct WholeRow {
  Logits<T> logits;
  T* softmax;
  T* loss;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(logits.input);
    const auto of = gpu::softmax_sum<T>(row, own);
    const auto term = logits.loss(row, own, of);
    if (row.is_first_thread()) loss[row.line()] = static_cast<T>(term);
    gpu::write_softmax(row, own, of, softmax);
  }
};

// For sharded classes, results are combined over ranks between the next two passes. Each rank's sum
// is relative to its own largest logit, so a rank reads its classes once for maximum and sum.
template <typename T>
struct SumOfRow {
  using C = compute_t<T>;
  Logits<T> logits;
  C* own_most;
  C* most;
  C* sums;
  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto of = gpu::softmax_sum<T>(row, row.read(logits.input));
    if (!row.is_first_thread()) return;
    own_most[row.line()] = most[row.line()] = of.most;
    sums[row.line()] = of.sum;
  }
};

/// Rescales a rank's sum to the largest logit of all ranks.
template <typename C>
struct RescaleSum {
  PHI_HD C operator()(C sum, C own_most, C most) const {
    const bool is_nothing = own_most == -std::numeric_limits<C>::infinity();
    return is_nothing ? sum : sum * std::exp(own_most - most);
  }
};

template <typename T>
struct TermOfRow {
  using C = compute_t<T>;
  Logits<T> logits;
  const C* most;
  const C* sums;
  T* softmax;
  C* terms;
  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(logits.input);
    const gpu::SoftmaxStatistics<C> of{most[row.line()], sums[row.line()]};
    const C term = logits.loss(row, own, of);
    if (row.is_first_thread()) terms[row.line()] = term;
    gpu::write_softmax(row, own, of, softmax);
  }
};

/// The loss term for probabilities (without softmax).
template <typename T>
struct LossOfProbabilities {
  using C = compute_t<T>;
  Logits<T> probabilities;
  C* terms;
  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto cost = [](C probability) { return -std::log(probability); };
    const C term = probabilities.weigh(row, row.read(probabilities.input), cost);
    if (row.is_first_thread()) terms[row.line()] = term;
  }
};

/// Calls op(row) for each row. `softmax` is the output array of these rows; may be null.
template <typename T, typename Op>
void visit(const GpuContext& ctx, const AxisLines& lines, const Logits<T>& logits, const T* softmax,
           const Op& op) {
  for_each_row<T>(ctx, lines, op, logits.input, logits.targets.soft, softmax);
}

template <typename T>
void sharded_rows(const GpuContext& ctx, const AxisLines& lines, const Logits<T>& logits, int axis,
                  T* softmax, T* loss) {
  using C = compute_t<T>;
  RowNumbers<C> own_most(ctx, lines.count);
  RowNumbers<C> most(ctx, lines.count);
  RowNumbers<C> sums(ctx, lines.count);
  RowNumbers<C> terms(ctx, lines.count);
  visit(ctx, lines, logits, softmax,
        SumOfRow<T>{logits, own_most.data(), most.data(), sums.data()});
  most.combine(ctx, 0, axis, CombineKind::kMax);
  gpu::map(ctx, sums.data(), lines.count, RescaleSum<C>(), sums.data(), own_most.data(),
           most.data());
  sums.combine(ctx, 0, axis, CombineKind::kSum);
  visit(ctx, lines, logits, softmax,
        TermOfRow<T>{logits, most.data(), sums.data(), softmax, terms.data()});
  terms.combine(ctx, 0, axis, CombineKind::kSum);
  convert(ctx, terms.data(), loss, lines.count);
}

template <typename T>
void given_probabilities(const GpuContext& ctx, const AxisLines& lines,
                         const Logits<T>& probabilities, int axis, bool sharded, T* softmax,
                         T* loss) {
  convert(ctx, probabilities.input, softmax, lines.count * lines.n);
  RowNumbers<compute_t<T>> terms(ctx, lines.count);
  visit(ctx, lines, probabilities, softmax, LossOfProbabilities<T>{probabilities, terms.data()});
  if (sharded) terms.combine(ctx, 0, axis, CombineKind::kSum);
  convert(ctx, terms.data(), loss, lines.count);
}

}  // namespace

/// Same contract as on the CPU; the error of an invalid label is thrown at the next host
/// synchronisation.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxKernel(const Context& ctx, const DenseTensor& input,
                                   const DenseTensor& label, bool soft_label, bool use_softmax,
                                   bool, int ignore_index, int axis, DenseTensor* softmax,
                                   DenseTensor* loss) {
  const ClassLayout layout = class_layout(input.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(0, input.dims());
  const AxisLines lines(input.dims(), axis);
  const Logits<T> logits{input.data<T>(),
                         gpu::targets_of<T>(ctx, label, layout, box, soft_label, ignore_index)};
  const bool sharded = classes_sharded(ctx, box, layout.axis);
  T* probabilities = softmax->mutable_data<T>();
  T* losses = loss->mutable_data<T>();
  if (!use_softmax)
    return given_probabilities(ctx, lines, logits, layout.axis, sharded, probabilities, losses);
  if (sharded) return sharded_rows(ctx, lines, logits, layout.axis, probabilities, losses);
  visit(ctx, lines, logits, probabilities, WholeRow<T>{logits, probabilities, losses});
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax, GPU, CrossEntropyWithSoftmaxKernel, Floats);

}  // namespace phi
