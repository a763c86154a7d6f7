// accuracy and auc on the CPU: metrics of predictions against labels.
#include <algorithm>
#include <string>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/choice_errors.h"

namespace phi {
namespace {

/// Returns the number of rows of `indices` that contain their label.
template <typename Id>
int64_t hits(const CpuContext& ctx, const DenseTensor& indices, const DenseTensor& label) {
  check_elements<Id>(ctx, label, IsBelow{0}, {.raise = throw_invalid_label});
  const int64_t width = indices.dims()[1];
  const Id* row = indices.data<Id>();
  int64_t found = 0;
  for (const Id* wanted = label.data<Id>(); wanted != label.data<Id>() + label.numel(); ++wanted) {
    found += std::find(row, row + width, *wanted) != row + width ? 1 : 0;
    row += width;
  }
  return found;
}

/// Counts of positive or of negative examples by predicted probability: `steps` windows, their sum,
/// and the number of windows filled so far. Without steps there is only the sum.
class Counts {
 public:
  Counts(DenseTensor* stat, int64_t buckets, int64_t steps)
      : values_(stat->mutable_data<int64_t>()), buckets_(buckets), steps_(steps) {}

  /// Clears the window that is filled next.
  void open() {
    if (steps_ == 0) return;
    for (int64_t b = 0; b < buckets_; ++b) sum()[b] -= window()[b];
    std::fill_n(window(), buckets_, int64_t{0});
  }
  void add(int64_t bucket) { ++window()[bucket]; }
  void close() {
    if (steps_ == 0) return;
    for (int64_t b = 0; b < buckets_; ++b) sum()[b] += window()[b];
    ++filled();
  }
  int64_t* sum() { return values_ + steps_ * buckets_; }

 private:
  int64_t& filled() { return values_[(steps_ + 1) * buckets_]; }
  int64_t* window() {
    if (steps_ == 0) return values_;
    const int64_t turn = filled() % steps_;
    return values_ + (turn < 0 ? turn + steps_ : turn) * buckets_;
  }

  int64_t* values_;
  int64_t buckets_;
  int64_t steps_;
};

/// Returns the area under the curve of true over false positives by trapezoids, from the highest
/// probability down; 0 if all examples are positive or all are negative.
double area_under_curve(const int64_t* positives, const int64_t* negatives, int64_t buckets) {
  double area = 0;
  double above = 0;
  double below = 0;
  for (int64_t b = buckets - 1; b >= 0; --b) {
    const auto up = static_cast<double>(positives[b]);
    const auto along = static_cast<double>(negatives[b]);
    area += along * (above + 0.5 * up);
    above += up;
    below += along;
  }
  return above > 0 && below > 0 ? area / above / below : 0;
}

template <typename T>
void count_examples(const DenseTensor& x, const DenseTensor& label, int64_t thresholds,
                    Counts* positives, Counts* negatives) {
  const int64_t width = x.dims()[1];
  const T* last = x.data<T>() + width - 1;
  const auto* wanted = label.data<int64_t>();
  for (int64_t i = 0; i < x.dims()[0]; ++i) {
    const auto probability = static_cast<double>(last[i * width]);
    PHI_CHECK(probability >= 0 && probability <= 1,
              errors::InvalidArgument("x holds {} in row {}, but a probability is in [0, 1].",
                                      probability, i));
    const auto bucket = static_cast<int64_t>(last[i * width] * static_cast<T>(thresholds));
    if (wanted[i] > 0) positives->add(bucket);
    if (wanted[i] == 0) negatives->add(bucket);
  }
}

using MetricTypes = TypeList<float, double>;

}  // namespace

/// correct: the number of rows of `indices` that contain their label; total: the number of rows;
/// accuracy: their quotient. If ranks share the rows, each output is a partial sum.
///
/// Errors   InvalidArgument for a negative label.
template <typename T, typename Context>
void AccuracyKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& indices,
                    const DenseTensor& label, DenseTensor* accuracy, DenseTensor* correct,
                    DenseTensor* total) {
  const int64_t rows = ctx.input_box(0, x.dims()).global[0];
  const int64_t found = indices.dtype() == DataType::INT32 ? hits<int32_t>(ctx, indices, label)
                                                           : hits<int64_t>(ctx, indices, label);
  *accuracy->mutable_data<float>() =
      rows == 0 ? 0.0f : static_cast<float>(found) / static_cast<float>(rows);
  *correct->mutable_data<int32_t>() = static_cast<int32_t>(found);
  *total->mutable_data<int32_t>() = static_cast<int32_t>(x.dims()[0]);
}

/// auc: the area under the curve of all examples counted so far. Examples whose ins_tag_weight is 0
/// are not counted.
///
/// Errors   InvalidArgument for a number that is not a probability.
template <typename T, typename Context>
void AucKernel(const Context&, const DenseTensor& x, const DenseTensor& label,
               const DenseTensor& stat_pos, const DenseTensor& stat_neg,
               const DenseTensor* ins_tag_weight, int num_thresholds, int slide_steps,
               DenseTensor* auc, DenseTensor* stat_pos_out, DenseTensor* stat_neg_out) {
  const int64_t buckets = int64_t{num_thresholds} + 1;
  // Elements beyond the size of the outputs are not copied.
  std::copy_n(stat_pos.data<int64_t>(), stat_pos_out->numel(),
              stat_pos_out->mutable_data<int64_t>());
  std::copy_n(stat_neg.data<int64_t>(), stat_neg_out->numel(),
              stat_neg_out->mutable_data<int64_t>());
  Counts positives(stat_pos_out, buckets, slide_steps);
  Counts negatives(stat_neg_out, buckets, slide_steps);
  const bool is_counted =
      !ins_tag_weight || ins_tag_weight->numel() == 0 || ins_tag_weight->data<float>()[0] != 0;
  if (is_counted) {
    positives.open();
    negatives.open();
    count_examples<T>(x, label, num_thresholds, &positives, &negatives);
    positives.close();
    negatives.close();
  }
  *auc->mutable_data<double>() = area_under_curve(positives.sum(), negatives.sum(), buckets);
}

PHI_REGISTER_KERNEL(accuracy, CPU, AccuracyKernel, Floats);
PHI_REGISTER_KERNEL(auc, CPU, AucKernel, MetricTypes);

}  // namespace phi
