// Losses of each element by itself, and their gradients, on the CPU.
#include <algorithm>
#include <span>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/tables/elementwise/broadcast_gradients.h"

namespace phi {
namespace {

template <typename T>
void check_probabilities(const DenseTensor& input) {
  const auto values = std::span(input.data<T>(), static_cast<size_t>(input.numel()));
  const auto wrong = std::ranges::find_if_not(values, [](T value) {
    const auto p = static_cast<compute_t<T>>(value);
    return p >= 0 && p <= 1;
  });
  PHI_CHECK(wrong == values.end(),
            errors::InvalidArgument("input {} holds {} at flat position {} (of this rank); "
                                    "probabilities must be in [0, 1].",
                                    input.meta().to_string(), static_cast<double>(*wrong),
                                    wrong - values.begin()));
}

}  // namespace

/// Errors: InvalidArgument for an input that is no probability.
template <typename T, typename Context>
void BceLossKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                   DenseTensor* out) {
  check_probabilities<T>(input);
  nary_loop<T>({&input, &label}, out, BceLossFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void BceLossGradKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor& out_grad, DenseTensor* input_grad) {
  nary_loop<T>({&input, &label, &out_grad}, input_grad, BceLossGradFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void HuberLossKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                     float delta, DenseTensor* out) {
  nary_loop<T>({&input, &label}, out, HuberLossFunctor<compute_t<T>>{delta});
}

template <typename T, typename Context>
void HuberLossGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& label,
                         const DenseTensor& out_grad, float delta, DenseTensor* input_grad,
                         DenseTensor* label_grad) {
  binary_grad<T>(ctx, input, label, out_grad, input_grad, label_grad,
                 HuberLossGradFunctor<compute_t<T>>{delta});
}

template <typename T, typename Context>
void HingeLossKernel(const Context&, const DenseTensor& logits, const DenseTensor& labels,
                     DenseTensor* loss) {
  nary_loop<T>({&logits, &labels}, loss, HingeLossFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void HingeLossGradKernel(const Context&, const DenseTensor& logits, const DenseTensor& labels,
                         const DenseTensor& loss_grad, DenseTensor* logits_grad) {
  nary_loop<T>({&logits, &labels, &loss_grad}, logits_grad, HingeLossGradFunctor<compute_t<T>>());
}

template <typename T, typename Context>
void LogLossKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                   float epsilon, DenseTensor* out) {
  nary_loop<T>({&input, &label}, out, LogLossFunctor<compute_t<T>>{epsilon});
}

template <typename T, typename Context>
void LogLossGradKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                       const DenseTensor& out_grad, float epsilon, DenseTensor* input_grad) {
  nary_loop<T>({&input, &label, &out_grad}, input_grad, LogLossGradFunctor<compute_t<T>>{epsilon});
}

PHI_REGISTER_KERNEL(bce_loss, CPU, BceLossKernel, Floats);
PHI_REGISTER_KERNEL(bce_loss_grad, CPU, BceLossGradKernel, Floats);
PHI_REGISTER_KERNEL(huber_loss, CPU, HuberLossKernel, Floats);
PHI_REGISTER_KERNEL(huber_loss_grad, CPU, HuberLossGradKernel, Floats);
PHI_REGISTER_KERNEL(hinge_loss, CPU, HingeLossKernel, Floats);
PHI_REGISTER_KERNEL(hinge_loss_grad, CPU, HingeLossGradKernel, Floats);
PHI_REGISTER_KERNEL(log_loss, CPU, LogLossKernel, Floats);
PHI_REGISTER_KERNEL(log_loss_grad, CPU, LogLossGradKernel, Floats);

}  // namespace phi
