// nll_loss and its gradient on GPUs.
#include <string>

#include "phi/generated/kernels/loss.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/loss/labels.h"

namespace phi {
namespace {

constexpr int kClassAxis = 1;
constexpr int kLabelInput = 1;
constexpr int kSums = 3;

/// The element that a row's label selects, and its weight.
template <typename T>
struct WeightedLabels {
  using C = compute_t<T>;
  gpu::AxisLines lines;
  gpu::HardLabels labels;
  const T* weights;  // null: all ones

  /// Offset of the selected element; -1 if the row has none on this rank.
  __device__ int64_t place(int64_t r) const {
    const int64_t here = labels.here(r);
    return here < 0 ? -1 : lines.start(r) + lines.at(here);
  }
  __device__ C weight(int64_t r) const {
    return weights ? static_cast<C>(weights[labels.here(r)]) : C(1);
  }
};

/// Writes each row's loss; its weight and whether its label is invalid if these arrays are not
/// null. All are 0 for rows without a local element.
template <typename T, typename Out>
__global__ void nll_rows(const T* input, WeightedLabels<T> labelled, Out* losses, Out* weights,
                         Out* wrong) {
  using C = compute_t<T>;
  for (int64_t r = gpu::first_item(); r < labelled.lines.count; r += gpu::item_stride()) {
    const int64_t place = labelled.place(r);
    const auto weight = static_cast<Out>(place < 0 ? C(0) : labelled.weight(r));
    losses[r] = place < 0 ? Out(0) : -weight * static_cast<Out>(static_cast<C>(input[place]));
    if (weights) weights[r] = weight;
    if (wrong) wrong[r] = static_cast<Out>(place < 0 && !labelled.labels.is_ignored(r));
  }
}

/// `total_weight` is the divisor of a mean, else null.
template <typename T>
__global__ void nll_grad_rows(WeightedLabels<T> labelled, const T* out_grad, int64_t step,
                              const T* total_weight, T* input_grad) {
  using C = compute_t<T>;
  const C total = total_weight ? static_cast<C>(*total_weight) : C(1);
  const C share = total == C(0) ? C(1) : C(1) / total;
  for (int64_t r = gpu::first_item(); r < labelled.lines.count; r += gpu::item_stride()) {
    const int64_t place = labelled.place(r);
    if (place < 0) continue;
    const C g = static_cast<C>(out_grad[r * step]);
    input_grad[place] = static_cast<T>(-labelled.weight(r) * share * g);
  }
}

template <typename T>
WeightedLabels<T> labelled_rows(const GpuContext& ctx, const DenseTensor& input,
                                const DenseTensor& label, const DenseTensor* weight,
                                int64_t ignore_index) {
  WeightedLabels<T> labelled{
      gpu::AxisLines(input.dims(), kClassAxis), {}, weight ? weight->data<T>() : nullptr};
  labelled.labels = gpu::hard_labels(ctx, label, labelled.lines.n, ignore_index);
  labelled.labels.classes = labelled.lines.n;
  return labelled;
}

/// `sums` has the sums of losses, weights and invalid labels. A mean is the first divided by the
/// second unless the second is 0.
template <typename T>
__global__ void finish_nll(const double* sums, bool is_mean, T* out, T* total_weight) {
  if (gpu::first_item() != 0) return;
  const bool divides = is_mean && sums[1] != 0;
  *out = convert_value<T>(divides ? sums[0] / sums[1] : sums[0]);
  *total_weight = convert_value<T>(sums[1]);
}

struct IsWrongElsewhere {
  PHI_HD bool operator()(double sum, int64_t i) const { return i == kSums - 1 && sum != 0; }
};

/// Checks the labels of other ranks. Call after check_elements for the local labels, whose error
/// has priority.
void refuse_labels_elsewhere(const GpuContext& ctx, const DenseTensor& sums, int64_t classes,
                             int64_t ignore_index) {
  DeviceAssertion assertion{.argument = "label", .raise = [](const DeviceAssertion& found) {
                              throw_wrong_label_elsewhere(found.extent, found.ignored);
                            }};
  assertion.extent = classes;
  assertion.ignored = ignore_index;
  check_elements<double>(ctx, sums, IsWrongElsewhere(), assertion);
}

}  // namespace

/// out = -weight[label] * input[label] per row, 0 if the label is `ignore_index`; or the sum over
/// rows; or the mean, divided by the sum of weights unless that is 0. For a mean, in which ranks
/// wait for each other, all ranks report an invalid label alike.
template <typename T, typename Context>
void NllLossKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                   const DenseTensor* weight, int64_t ignore_index, const std::string& reduction,
                   DenseTensor* out, DenseTensor* total_weight) {
  using C = compute_t<T>;
  const auto labelled = labelled_rows<T>(ctx, input, label, weight, ignore_index);
  const int64_t rows = labelled.lines.count;
  const auto run = [&]<typename Out>(Out* losses, Out* weights, Out* wrong) {
    if (rows == 0) return;
    gpu::launch(ctx, nll_rows<T, Out>, gpu::blocks_for(ctx, rows), gpu::kBlock, input.data<T>(),
                labelled, losses, weights, wrong);
  };
  if (reduction == "none") {
    DenseTensor losses = DenseTensor::empty({out->dims(), dtype_of<C>()}, ctx.place());
    run(losses.mutable_data<C>(), static_cast<C*>(nullptr), static_cast<C*>(nullptr));
    fill(ctx, total_weight->mutable_data<T>(), 1, T(0));
    return convert(ctx, losses.data<C>(), out->mutable_data<T>(), out->numel());
  }
  DenseTensor terms = DenseTensor::empty({{kSums, rows}, DataType::FLOAT64}, ctx.place());
  DenseTensor sums = DenseTensor::empty({{kSums}, DataType::FLOAT64}, ctx.place());
  double* const losses = terms.mutable_data<double>();
  run(losses, losses + rows, losses + 2 * rows);
  reduce_rows<SumReducer<double>>(ctx, terms.data<double>(), kSums, rows,
                                  sums.mutable_data<double>());
  const bool is_mean = reduction == "mean";
  for (int d = 0; is_mean && ctx.view() && d < label.ndim(); ++d)
    ctx.view()->combine_over(kLabelInput, d, CombineKind::kSum, &sums);
  if (is_mean && ctx.view()) refuse_labels_elsewhere(ctx, sums, labelled.lines.n, ignore_index);
  gpu::launch(ctx, finish_nll<T>, 1, 1, sums.data<double>(), is_mean, out->mutable_data<T>(),
              total_weight->mutable_data<T>());
}

template <typename T, typename Context>
void NllLossGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor* weight, const DenseTensor& total_weight,
                       const DenseTensor& out_grad, int64_t ignore_index,
                       const std::string& reduction, DenseTensor* input_grad) {
  T* const to = input_grad->mutable_data<T>();
  fill(ctx, to, input_grad->numel(), T(0));
  const auto labelled = labelled_rows<T>(ctx, input, label, weight, ignore_index);
  if (input.numel() == 0) return;
  gpu::launch(ctx, nll_grad_rows<T>, gpu::blocks_for(ctx, labelled.lines.count), gpu::kBlock,
              labelled, out_grad.data<T>(), int64_t{reduction == "none"},
              reduction == "mean" ? total_weight.data<T>() : nullptr, to);
}

PHI_REGISTER_KERNEL(nll_loss, GPU, NllLossKernel, Floats);
PHI_REGISTER_KERNEL(nll_loss_grad, GPU, NllLossGradKernel, Floats);

}  // namespace phi
