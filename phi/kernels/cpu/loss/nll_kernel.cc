// Negative log likelihood, and its gradient, on the CPU.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/cpu/deferred_error.h"
#include "phi/kernels/cpu/loss/class_rows.h"
#include "phi/kernels/cpu/loss/combined_sums.h"

namespace phi {
namespace {

constexpr int kNllClassAxis = 1;
constexpr int kNllLabelInput = 1;
constexpr int kSums = 3;  // sums of losses, of weights, and of ranks with an invalid label

/// Errors   InvalidArgument with the first row whose label is not a class, and its label.
template <typename L>
void check_labels(const L* labels, const ClassLayout& layout, int64_t ignore_index) {
  using U = std::make_unsigned_t<L>;
  const L* const end = labels + layout.rows();
  const auto last =
      static_cast<U>(std::min<int64_t>(layout.classes - 1, std::numeric_limits<L>::max()));
  U signs = 0;  // signs of labels, and of their distances to the last class
  for (const L* label = labels; label != end; ++label) {
    const auto at = static_cast<U>(*label);
    signs |= at | (last - at);
  }
  if (layout.classes > 0 && static_cast<L>(signs) >= 0) return;
  const L* const wrong = std::find_if(labels, end, [&](int64_t label) {
    return label != ignore_index && (label < 0 || label >= layout.classes);
  });
  if (wrong != end) throw_wrong_label(wrong - labels, *wrong, layout.classes, ignore_index);
}

/// Calls f(row, position of its class in the array, the class's weight) for each row whose label is
/// not ignored, and returns f. Not inlined, and calls no other function, so that f's sums stay in
/// registers.
template <typename C, typename T, typename L, typename F>
[[gnu::noinline]] F visit_labels(const L* labels, const ClassLayout& layout, const T* weights,
                                 int64_t ignore_index, F f) {
  int64_t r = 0;
  for (int64_t first = 0; r < layout.rows(); first += layout.classes * layout.inner) {
    for (int64_t i = 0; i < layout.inner; ++i, ++r) {
      const int64_t label = labels[r];
      if (label == ignore_index) continue;
      f(r, first + label * layout.inner + i, weights ? static_cast<C>(weights[label]) : C(1));
    }
  }
  return f;
}

/// visit_labels for labels of any dtype.
///
/// Errors   those of check_labels, before f is called.
template <typename T, typename F>
F each_label(const DenseTensor& label, const ClassLayout& layout, const DenseTensor* weight,
             int64_t ignore_index, F f) {
  const auto visit = [&](const auto* labels) {
    check_labels(labels, layout, ignore_index);
    const T* weights = weight ? weight->data<T>() : nullptr;
    return visit_labels<compute_t<T>>(labels, layout, weights, ignore_index, f);
  };
  return label.dtype() == DataType::INT32 ? visit(label.data<int32_t>())
                                          : visit(label.data<int64_t>());
}

/// The sums of weighted losses and of weights.
template <typename T>
struct SumLosses {
  const T* input;
  double loss = 0;
  double weights = 0;
  void operator()(int64_t, int64_t at, compute_t<T> w) {
    loss -= static_cast<double>(w) * static_cast<double>(input[at]);
    weights += static_cast<double>(w);
  }
};

}  // namespace

/// out = -weight[label] * input[label] for each row, 0 if the label is `ignore_index`. With
/// reduction "sum", their sum; with "mean", that sum divided by the sum of the weights, or 0 if
/// that is 0. A mean communicates, so an invalid label is an error on every rank.
template <typename T, typename Context>
void NllLossKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                   const DenseTensor* weight, int64_t ignore_index, const std::string& reduction,
                   DenseTensor* out, DenseTensor* total_weight) {
  using C = compute_t<T>;
  const ClassLayout layout = class_layout(input.dims(), kNllClassAxis);
  const T* data = input.data<T>();
  T* to = out->mutable_data<T>();
  T* total = total_weight->mutable_data<T>();
  if (reduction == "none") {
    std::fill_n(to, out->numel(), T(0));
    *total = T(0);
    each_label<T>(label, layout, weight, ignore_index, [=](int64_t r, int64_t at, C w) {
      to[r] = static_cast<T>(-w * static_cast<C>(data[at]));
    });
    return;
  }
  SumLosses<T> local{data};
  const DeferredError deferred(
      [&] { local = each_label<T>(label, layout, weight, ignore_index, local); });
  CombinedSums<kSums> sums(ctx);
  sums[0] = local.loss;
  sums[1] = local.weights;
  sums[2] = static_cast<double>(deferred.count());
  if (reduction == "mean") {
    sums.combine(ctx, kNllLabelInput, label.ndim());
    if (sums[1] != 0) sums[0] /= sums[1];
  }
  deferred.raise(sums[2] != 0, [&] { throw_wrong_label_elsewhere(layout.classes, ignore_index); });
  *to = convert_value<T>(sums[0]);
  *total = convert_value<T>(sums[1]);
}

template <typename T, typename Context>
void NllLossGradKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor* weight, const DenseTensor& total_weight,
                       const DenseTensor& out_grad, int64_t ignore_index,
                       const std::string& reduction, DenseTensor* input_grad) {
  using C = compute_t<T>;
  T* to = input_grad->mutable_data<T>();
  std::fill_n(to, input_grad->numel(), T(0));
  const T* grads = out_grad.data<T>();
  const int64_t step = reduction == "none" ? 1 : 0;
  const C total = reduction == "mean" ? static_cast<C>(*total_weight.data<T>()) : C(1);
  const C share = total == C(0) ? C(1) : C(1) / total;
  each_label<T>(label, class_layout(input.dims(), kNllClassAxis), weight, ignore_index,
                [=](int64_t r, int64_t at, C w) {
                  to[at] = static_cast<T>(-w * share * static_cast<C>(grads[r * step]));
                });
}

// A dry run counts the messages of a mean.
template <typename T, typename Context>
void NllLossDry(const Context& ctx, const DenseTensor&, const DenseTensor& label,
                const DenseTensor*, int64_t, const std::string& reduction, DenseTensor*,
                DenseTensor*) {
  if (reduction == "mean") CombinedSums<kSums>(ctx).combine(ctx, kNllLabelInput, label.ndim());
}

PHI_REGISTER_KERNEL(nll_loss, CPU, NllLossKernel, Floats);
PHI_REGISTER_KERNEL(nll_loss_grad, CPU, NllLossGradKernel, Floats);
PHI_REGISTER_DRY_KERNEL(nll_loss, NllLossDry, Floats);

}  // namespace phi
