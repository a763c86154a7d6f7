// Kullback-Leibler divergence and its gradient on GPUs.
#include <string>

#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/kldiv_divisor.h"

namespace phi {
namespace {

struct DivideBy {
  double count;
  PHI_HD double operator()(double sum) const { return sum / count; }
};

template <typename C>
struct ScaledGrad {
  KLDivLossGradFunctor<C> grad;
  C share;
  PHI_HD C operator()(C label, C g) const { return grad(label, g * share); }
};

}  // namespace

/// Divides the local sum by a global count, so that the results of ranks add up.
template <typename T, typename Context>
void KLDivLossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                     const std::string& reduction, bool log_target, DenseTensor* out) {
  using C = compute_t<T>;
  const KLDivLossFunctor<C> term{log_target};
  if (reduction == "none") return even_loop<T>(ctx, {&x, &label}, out, term);
  DenseTensor terms = DenseTensor::empty({x.dims(), dtype_of<C>()}, ctx.place());
  even_loop<T>(ctx, std::array{&x, &label}, terms.mutable_data<C>(), x.dims(), term);
  reduce_all<SumReducer<C>>(ctx, terms.data<C>(), x.numel(), out->mutable_data<T>(),
                            DivideBy{kldiv_divisor(ctx, x, reduction)});
}

template <typename T, typename Context>
void KLDivLossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                         const DenseTensor& out_grad, const std::string& reduction, bool log_target,
                         DenseTensor* x_grad) {
  using C = compute_t<T>;
  const auto share = static_cast<C>(1 / kldiv_divisor(ctx, x, reduction));
  nary_loop<T>(ctx, {&label, &out_grad}, x_grad,
               ScaledGrad<C>{KLDivLossGradFunctor<C>{log_target}, share});
}

PHI_REGISTER_KERNEL(kldiv_loss, GPU, KLDivLossKernel, Floats);
PHI_REGISTER_KERNEL(kldiv_loss_grad, GPU, KLDivLossGradKernel, Floats);

}  // namespace phi
