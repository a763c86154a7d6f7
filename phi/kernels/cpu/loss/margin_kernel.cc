// margin_logits: adds margins at the classes of labels, and its gradient, on the CPU.
#include <algorithm>
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/loss.h"
#include "phi/kernels/cpu/loss/class_rows.h"

namespace phi {
namespace {

constexpr int kMarginClassAxis = 1;

/// Tolerance for cosines beyond 1 due to rounding: two units in the last place of bfloat16.
constexpr double kBeyondOne = 1.6e-2;
/// Lower bound of 1 - x^2. The derivative of the angle is unbounded at a cosine of 1.
constexpr double kLeastSquare = 1e-8;

/// Calls f(offset of the element, its cosine) for each row whose label's class is on this rank.
///
/// Errors   InvalidArgument for a label that is not a class, and for a number that is not a cosine.
template <typename T, typename F>
void for_each_label(const KernelContext& ctx, const DenseTensor& logits, const DenseTensor& label,
                    F f) {
  const ClassLayout layout = class_layout(logits.dims(), kMarginClassAxis);
  constexpr int kNoneIgnored = -1;
  ClassLabels<T> labels(label, layout, ctx.input_box(0, logits.dims()), false, kNoneIgnored);
  const T* data = logits.data<T>();
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const int64_t here = labels.local_class(r);
    if (here < 0) continue;
    const int64_t at = r * layout.classes + here;
    const auto cosine = static_cast<double>(data[at]);
    PHI_CHECK(!(std::abs(cosine) > 1 + kBeyondOne),
              errors::InvalidArgument("logits holds {} at [{}, {}], but a margin is added to the "
                                      "angle of a cosine, in [-1, 1]; normalise features and "
                                      "weights.",
                                      cosine, r, here));
    f(at, std::clamp(cosine, -1.0, 1.0));
  }
}

}  // namespace

template <typename T, typename Context>
void MarginLogitsKernel(const Context& ctx, const DenseTensor& logits, const DenseTensor& label,
                        float margin1, float margin2, float margin3, float scale,
                        DenseTensor* out) {
  using C = compute_t<T>;
  const T* from = logits.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < logits.numel(); ++i)
    to[i] = convert_value<T>(static_cast<C>(from[i]) * C(scale));
  for_each_label<T>(ctx, logits, label, [=](int64_t at, double cosine) {
    to[at] = convert_value<T>((std::cos(margin1 * std::acos(cosine) + margin2) - margin3) *
                              static_cast<double>(scale));
  });
}

/// d cos(m1 acos(x) + m2) / dx = m1 sin(m1 acos(x) + m2) / sqrt(1 - x^2).
template <typename T, typename Context>
void MarginLogitsGradKernel(const Context& ctx, const DenseTensor& logits, const DenseTensor& label,
                            const DenseTensor& out_grad, float margin1, float margin2, float scale,
                            DenseTensor* logits_grad) {
  using C = compute_t<T>;
  const T* from = out_grad.data<T>();
  T* to = logits_grad->mutable_data<T>();
  for (int64_t i = 0; i < out_grad.numel(); ++i)
    to[i] = convert_value<T>(static_cast<C>(from[i]) * C(scale));
  for_each_label<T>(ctx, logits, label, [=](int64_t at, double cosine) {
    const double slope = margin1 * std::sin(margin1 * std::acos(cosine) + margin2) /
                         std::sqrt(std::max(1 - cosine * cosine, kLeastSquare));
    to[at] = convert_value<T>(static_cast<double>(from[at]) * slope * static_cast<double>(scale));
  });
}

PHI_REGISTER_KERNEL(margin_logits, CPU, MarginLogitsKernel, Floats);
PHI_REGISTER_KERNEL(margin_logits_grad, CPU, MarginLogitsGradKernel, Floats);

}  // namespace phi
