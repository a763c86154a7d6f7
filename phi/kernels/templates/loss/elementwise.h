// Elementwise losses and their gradients.
#pragma once

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/templates/elementwise/broadcast_gradients.h"

namespace phi {
namespace {

template <typename T>
struct IsInvalidProbability {
  PHI_HD bool operator()(T value) const {
    const auto p = static_cast<compute_t<T>>(value);
    return !(p >= 0 && p <= 1);
  }
};

[[noreturn]] inline void throw_no_probability(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "input {} holds {} at flat position {} (of this rank); probabilities must be in [0, 1].",
      found.meta.to_string(), found.number, found.at);
}

}  // namespace

/// Errors: InvalidArgument for an input that is not a probability.
template <typename T, typename Context>
void BceLossKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                   DenseTensor* out) {
  check_elements<T>(ctx, input, IsInvalidProbability<T>(), {.raise = throw_no_probability});
  even_loop<T>(ctx, {&input, &label}, out, BceLossFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void BceLossGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor& out_grad, DenseTensor* input_grad) {
  even_loop<T>(ctx, {&input, &label, &out_grad}, input_grad, BceLossGradFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void HuberLossKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                     float delta, DenseTensor* out) {
  even_loop<T>(ctx, {&input, &label}, out, HuberLossFunctor<compute_t<T>>{delta});
}

template <typename T, typename Context>
void HuberLossGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                         const DenseTensor& out_grad, float delta, DenseTensor* input_grad,
                         DenseTensor* label_grad) {
  even_binary_grad<T>(ctx, input, label, out_grad, input_grad, label_grad,
                      HuberLossGradFunctor<compute_t<T>>{delta});
}

template <typename T, typename Context>
void HingeLossKernel(const Context& ctx, const DenseTensor& logits, const DenseTensor& labels,
                     DenseTensor* loss) {
  even_loop<T>(ctx, {&logits, &labels}, loss, HingeLossFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void HingeLossGradKernel(const Context& ctx, const DenseTensor& logits, const DenseTensor& labels,
                         const DenseTensor& loss_grad, DenseTensor* logits_grad) {
  even_loop<T>(ctx, {&logits, &labels, &loss_grad}, logits_grad,
               HingeLossGradFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void LogLossKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                   float epsilon, DenseTensor* out) {
  even_loop<T>(ctx, {&input, &label}, out, LogLossFunctor<compute_t<T>>{epsilon});
}

template <typename T, typename Context>
void LogLossGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor& out_grad, float epsilon, DenseTensor* input_grad) {
  even_loop<T>(ctx, {&input, &label, &out_grad}, input_grad,
               LogLossGradFunctor<compute_t<T>>{epsilon});
}

PHI_REGISTER_KERNEL(bce_loss, PHI_DEVICE, BceLossKernel, Floats);
PHI_REGISTER_KERNEL(bce_loss_grad, PHI_DEVICE, BceLossGradKernel, Floats);
PHI_REGISTER_KERNEL(huber_loss, PHI_DEVICE, HuberLossKernel, Floats);
PHI_REGISTER_KERNEL(huber_loss_grad, PHI_DEVICE, HuberLossGradKernel, Floats);
PHI_REGISTER_KERNEL(hinge_loss, PHI_DEVICE, HingeLossKernel, Floats);
PHI_REGISTER_KERNEL(hinge_loss_grad, PHI_DEVICE, HingeLossGradKernel, Floats);
PHI_REGISTER_KERNEL(log_loss, PHI_DEVICE, LogLossKernel, Floats);
PHI_REGISTER_KERNEL(log_loss_grad, PHI_DEVICE, LogLossGradKernel, Floats);

}  // namespace phi
