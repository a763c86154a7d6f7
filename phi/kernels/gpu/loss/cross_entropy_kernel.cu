// Softmax with cross entropy on GPUs, over whole or sharded classes.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/functors/fast_math.h"
#include "phi/kernels/gpu/loss/class_lines.h"
#include "phi/kernels/gpu/words.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::Targets;

/// What a row of logits and its label are to the kernels below.
template <typename T>
struct Row {
  using C = compute_t<T>;
  const T* input;
  AxisLines lines;
  Targets<T> targets;

  __device__ C logit(int64_t first, int64_t k) const {
    return static_cast<C>(input[first + lines.at(k)]);
  }
  template <typename Team>
  __device__ C most(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    return team.template largest<C>(lines.n, [&](int64_t k) { return logit(first, k); });
  }
  template <typename Team>
  __device__ C sum(const Team& team, int64_t line, C most) const {
    const int64_t first = lines.start(line);
    return team.template sum<C>(
        lines.n, [&](int64_t k) { return fast::exp_or_zero(logit(first, k) - most); });
  }
  /// The sum over the classes here of label * cost(logit), a term of zero weight counting as 0.
  template <typename Team, typename Cost>
  __device__ C weigh(const Team& team, int64_t line, const Cost& cost) const {
    const int64_t first = lines.start(line);
    if (!targets.soft) {
      const int64_t here = targets.hard.here(line);
      return here >= 0 ? cost(logit(first, here)) : C(0);
    }
    return team.template sum<C>(lines.n, [&](int64_t k) {
      const C weight = targets.weight(first + lines.at(k));
      return weight == C(0) ? C(0) : weight * cost(logit(first, k));
    });
  }
  template <typename Team>
  __device__ C loss(const Team& team, int64_t line, C most, C sum) const {
    const C log_sum = std::log(sum);
    return weigh(team, line, [=](C logit) { return log_sum - (logit - most); });
  }
  template <typename Team>
  __device__ void write_shares(const Team& team, int64_t line, C most, C sum, T* softmax) const {
    const int64_t first = lines.start(line);
    const C factor = C(1) / sum;
    team.each(lines.n, [&](int64_t k) {
      softmax[first + lines.at(k)] =
          static_cast<T>(fast::exp_or_zero(logit(first, k) - most) * factor);
    });
  }
};

template <typename T>
struct WholeRow {
  Row<T> row;
  T* softmax;
  T* loss;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const auto most = row.most(team, line);
    const auto sum = row.sum(team, line, most);
    const auto term = row.loss(team, line, most, sum);
    if (team.index() == 0) loss[line] = static_cast<T>(term);
    row.write_shares(team, line, most, sum, softmax);
  }
};

// Of sharded classes: what is combined between these three.
template <typename T>
struct MostOfRow {
  Row<T> row;
  compute_t<T>* most;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const auto value = row.most(team, line);
    if (team.index() == 0) most[line] = value;
  }
};

template <typename T>
struct SumOfRow {
  Row<T> row;
  const compute_t<T>* most;
  compute_t<T>* sums;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const auto value = row.sum(team, line, most[line]);
    if (team.index() == 0) sums[line] = value;
  }
};

template <typename T>
struct TermOfRow {
  Row<T> row;
  const compute_t<T>* most;
  const compute_t<T>* sums;
  T* softmax;
  compute_t<T>* terms;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const auto term = row.loss(team, line, most[line], sums[line]);
    if (team.index() == 0) terms[line] = term;
    row.write_shares(team, line, most[line], sums[line], softmax);
  }
};

/// Of probabilities.
template <typename T>
struct TermOfShares {
  using C = compute_t<T>;
  Row<T> row;
  C* terms;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const C term = row.weigh(team, line, [](C share) { return -std::log(share); });
    if (team.index() == 0) terms[line] = term;
  }
};

template <typename T>
void sharded_rows(const GpuContext& ctx, const Row<T>& row, int axis, T* softmax, T* loss) {
  using C = compute_t<T>;
  const int64_t rows = row.lines.count;
  RowNumbers<C> most(ctx, rows);
  RowNumbers<C> sums(ctx, rows);
  RowNumbers<C> terms(ctx, rows);
  for_each_line(ctx, row.lines, MostOfRow<T>{row, most.data()});
  most.combine(ctx, 0, axis, CombineKind::kMax);
  for_each_line(ctx, row.lines, SumOfRow<T>{row, most.data(), sums.data()});
  sums.combine(ctx, 0, axis, CombineKind::kSum);
  for_each_line(ctx, row.lines, TermOfRow<T>{row, most.data(), sums.data(), softmax, terms.data()});
  terms.combine(ctx, 0, axis, CombineKind::kSum);
  convert(ctx, terms.data(), loss, rows);
}

template <typename T>
void given_probabilities(const GpuContext& ctx, const Row<T>& row, int axis, bool sharded,
                         T* softmax, T* loss) {
  const int64_t rows = row.lines.count;
  convert(ctx, row.input, softmax, rows * row.lines.n);
  RowNumbers<compute_t<T>> terms(ctx, rows);
  for_each_line(ctx, row.lines, TermOfShares<T>{row, terms.data()});
  if (sharded) terms.combine(ctx, 0, axis, CombineKind::kSum);
  convert(ctx, terms.data(), loss, rows);
}

}  // namespace

/// As on the CPU; the error of a label that is no class rises where the host waits.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxKernel(const Context& ctx, const DenseTensor& input,
                                   const DenseTensor& label, bool soft_label, bool use_softmax,
                                   bool, int ignore_index, int axis, DenseTensor* softmax,
                                   DenseTensor* loss) {
  const ClassLayout layout = class_layout(input.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(0, input.dims());
  const Row<T> row{input.data<T>(), AxisLines(input.dims(), axis),
                   gpu::targets_of<T>(ctx, label, layout, box, soft_label, ignore_index)};
  const bool sharded = classes_sharded(ctx, box, layout.axis);
  T* shares = softmax->mutable_data<T>();
  T* losses = loss->mutable_data<T>();
  if (!use_softmax) return given_probabilities(ctx, row, layout.axis, sharded, shares, losses);
  if (sharded) return sharded_rows(ctx, row, layout.axis, shares, losses);
  for_each_line(ctx, row.lines, WholeRow<T>{row, shares, losses});
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax, GPU, CrossEntropyWithSoftmaxKernel, Floats);

}  // namespace phi
