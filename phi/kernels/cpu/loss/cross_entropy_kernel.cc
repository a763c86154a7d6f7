// Softmax with cross entropy on the CPU, for whole or sharded classes.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loss/class_rows.h"

namespace phi {
namespace {

template <typename T>
inline void whole_rows(const T* input, const ClassLayout& layout, ClassLabels<T>& labels,
                       T* softmax, T* loss) {
  using C = compute_t<T>;
  ClassRows<T> rows(layout);
  std::vector<C> shares(layout.classes);
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const C* row = rows.read(input, r);
    const C most = row_max(row, layout.classes);
    const C sum = row_exp_sum(row, layout.classes, most, shares.data());
    const C log_sum = std::log(sum);
    const C term = labels.weigh(r, row, [=](C logit) { return log_sum - (logit - most); });
    loss[r] = static_cast<T>(term);
    const C factor = C(1) / sum;
    for (C& share : shares) share *= factor;
    rows.write(shares.data(), r, softmax);
  }
}

template <typename T>
void sharded_rows(const KernelContext& ctx, const T* input, const ClassLayout& layout,
                  ClassLabels<T>& labels, T* softmax, T* loss) {
  using C = compute_t<T>;
  ClassRows<T> rows(layout);
  std::vector<C> shares(layout.classes);
  RowNumbers<C> most(ctx, layout.rows());
  RowNumbers<C> sums(ctx, layout.rows());
  RowNumbers<C> terms(ctx, layout.rows());
  for (int64_t r = 0; r < layout.rows(); ++r)
    most[r] = row_max(rows.read(input, r), layout.classes);
  most.combine(ctx, 0, layout.axis, CombineKind::kMax);
  for (int64_t r = 0; r < layout.rows(); ++r)
    sums[r] = row_exp_sum(rows.read(input, r), layout.classes, most[r], shares.data());
  sums.combine(ctx, 0, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const C* row = rows.read(input, r);
    const C shift = most[r];
    const C log_sum = std::log(sums[r]);
    terms[r] = labels.weigh(r, row, [=](C logit) { return log_sum - (logit - shift); });
    const C factor = C(1) / sums[r];
    for (int64_t c = 0; c < layout.classes; ++c)
      shares[c] = fast::exp_or_zero(row[c] - shift) * factor;
    rows.write(shares.data(), r, softmax);
  }
  terms.combine(ctx, 0, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) loss[r] = static_cast<T>(terms[r]);
}

template <typename T>
void given_probabilities(const KernelContext& ctx, const DenseTensor& input,
                         const ClassLayout& layout, ClassLabels<T>& labels, bool sharded,
                         DenseTensor* softmax, T* loss) {
  using C = compute_t<T>;
  const T* data = input.data<T>();
  std::copy_n(data, input.numel(), softmax->mutable_data<T>());
  ClassRows<T> rows(layout);
  RowNumbers<C> terms(ctx, layout.rows());
  for (int64_t r = 0; r < layout.rows(); ++r)
    terms[r] = labels.weigh(r, rows.read(data, r), [](C share) { return -std::log(share); });
  if (sharded) terms.combine(ctx, 0, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) loss[r] = static_cast<T>(terms[r]);
}

}  // namespace

/// softmax = softmax(input) along `axis`. For soft labels, loss = -sum(label * log softmax); for
/// hard labels, loss = -log softmax[label], or 0 if the label is `ignore_index`.
///
/// If use_softmax is false, input has probabilities and softmax is a copy of it. The maximum is
/// always subtracted first, whatever numeric_stable_mode is.
///
/// If the class dim is sharded, the ranks that share it combine the rows' maxima, sums and label
/// terms, so that each of them has the complete loss (Megatron-LM's vocabulary-parallel loss,
/// Shoeybi et al., 2019). A hard label is then replicated and has global class numbers.
///
/// Errors   InvalidArgument with the row and its label.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxKernel(const Context& ctx, const DenseTensor& input,
                                   const DenseTensor& label, bool soft_label, bool use_softmax,
                                   bool, int ignore_index, int axis, DenseTensor* softmax,
                                   DenseTensor* loss) {
  const ClassLayout layout = class_layout(input.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(0, input.dims());
  // Labels are checked before anything is combined, so that all ranks report an invalid label.
  ClassLabels<T> labels(label, layout, box, soft_label, ignore_index);
  const bool sharded = classes_sharded(ctx, box, layout.axis);
  T* losses = loss->mutable_data<T>();
  if (!use_softmax)
    return given_probabilities(ctx, input, layout, labels, sharded, softmax, losses);
  const T* data = input.data<T>();
  T* shares = softmax->mutable_data<T>();
  if (sharded) return sharded_rows(ctx, data, layout, labels, shares, losses);
  run_best_isa<compute_t<T>>(
      [=, &layout, &labels] { whole_rows(data, layout, labels, shares, losses); });
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax, CPU, CrossEntropyWithSoftmaxKernel, Floats);

// The ranks that share the classes exchange three numbers per row, or one if input has
// probabilities.
template <typename T, typename Context>
void CrossEntropyWithSoftmaxDry(const Context& ctx, const DenseTensor& input, const DenseTensor&,
                                bool, bool use_softmax, bool, int, int axis, DenseTensor*,
                                DenseTensor*) {
  const ClassLayout layout = class_layout(input.dims(), axis);
  if (layout.rows() == 0) return;
  const bool sharded = classes_sharded(ctx, ctx.input_box(0, input.dims()), layout.axis);
  const int of_shares = sharded ? 3 : 0;
  combine_dry<compute_t<T>>(ctx, 0, layout, use_softmax ? of_shares : 1, sharded);
}

PHI_REGISTER_DRY_KERNEL(cross_entropy_with_softmax, CrossEntropyWithSoftmaxDry, Floats);

}  // namespace phi
