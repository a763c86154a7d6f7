// The Kullback-Leibler divergence and its gradient on the CPU.
#include <string>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/cpu/elementwise/nary_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/losses.h"

namespace phi {
namespace {

/// What the sum of terms is divided by, counted over all ranks.
double divisor(const KernelContext& ctx, const DenseTensor& x, const std::string& reduction) {
  const Dims whole = ctx.input_box(0, x.dims()).global;
  if (reduction == "mean") return static_cast<double>(whole.numel());
  return reduction == "batchmean" && whole.ndim() > 0 ? static_cast<double>(whole[0]) : 1;
}

}  // namespace

/// The local sum over global counts, so that the results of ranks add up.
template <typename T, typename Context>
void KLDivLossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                     const std::string& reduction, bool log_target, DenseTensor* out) {
  using C = compute_t<T>;
  const KLDivLossFunctor<C> term{log_target};
  if (reduction == "none") return nary_loop<T>({&x, &label}, out, term);
  const T* xs = x.data<T>();
  const T* labels = label.data<T>();
  const double sum = row_sum<double>(x.numel(), [=](int64_t i) {
    return static_cast<double>(term(static_cast<C>(xs[i]), static_cast<C>(labels[i])));
  });
  *out->mutable_data<T>() = convert_value<T>(sum / divisor(ctx, x, reduction));
}

template <typename T, typename Context>
void KLDivLossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                         const DenseTensor& out_grad, const std::string& reduction, bool log_target,
                         DenseTensor* x_grad) {
  using C = compute_t<T>;
  const KLDivLossGradFunctor<C> grad{log_target};
  const auto share = static_cast<C>(1 / divisor(ctx, x, reduction));
  nary_loop<T>({&label, &out_grad}, x_grad, [=](C a, C g) { return grad(a, g * share); });
}

PHI_REGISTER_KERNEL(kldiv_loss, CPU, KLDivLossKernel, Floats);
PHI_REGISTER_KERNEL(kldiv_loss_grad, CPU, KLDivLossGradKernel, Floats);

}  // namespace phi
