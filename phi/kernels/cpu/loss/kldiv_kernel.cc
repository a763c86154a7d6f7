// The Kullback-Leibler divergence and its gradient on the CPU.
#include <string>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/cpu/loops/nary_loop.h"
#include "phi/kernels/cpu/reduction/reduce_loop.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

/// What the sum of terms is divided by, counted over all ranks.
double divisor(const KernelContext& ctx, const DenseTensor& x, const std::string& reduction) {
  const Dims whole = ctx.input_box(0, x.dims()).global;
  if (reduction == "mean") return static_cast<double>(whole.numel());
  return reduction == "batchmean" && whole.ndim() > 0 ? static_cast<double>(whole[0]) : 1;
}

/// f(term), where `log_target` is known to the compiler: as a member it keeps loops from vectors.
template <typename C, typename F>
void with_term(bool log_target, F&& f) {
  if (log_target) {
    f([](C x, C label) { return KLDivLossFunctor<C>{true}(x, label); });
  } else {
    f([](C x, C label) { return KLDivLossFunctor<C>{false}(x, label); });
  }
}

}  // namespace

/// The local sum over global counts, so that the results of ranks add up.
template <typename T, typename Context>
void KLDivLossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                     const std::string& reduction, bool log_target, DenseTensor* out) {
  using C = compute_t<T>;
  if (reduction == "none")
    return with_term<C>(log_target, [&](auto term) { nary_loop<T>({&x, &label}, out, term); });
  DenseTensor terms = DenseTensor::empty({x.dims(), dtype_of<C>()}, ctx.place());
  C* const to = terms.mutable_data<C>();
  with_term<C>(log_target, [&](auto term) {
    nary_loop<T>(std::array{&x, &label}, to, x.dims(), term);
  });
  const double by = divisor(ctx, x, reduction);
  reduce<SumReducer<C>>(ctx, to, x.dims(), AxisSet::all(x.ndim()), out->mutable_data<T>(),
                        [by](double sum) { return sum / by; });
}

template <typename T, typename Context>
void KLDivLossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                         const DenseTensor& out_grad, const std::string& reduction, bool log_target,
                         DenseTensor* x_grad) {
  using C = compute_t<T>;
  const auto share = static_cast<C>(1 / divisor(ctx, x, reduction));
  const auto run = [&](auto grad) {
    nary_loop<T>({&label, &out_grad}, x_grad, [=](C a, C g) { return grad(a, g * share); });
  };
  if (log_target) return run([](C a, C g) { return KLDivLossGradFunctor<C>{true}(a, g); });
  run([](C a, C g) { return KLDivLossGradFunctor<C>{false}(a, g); });
}

PHI_REGISTER_KERNEL(kldiv_loss, CPU, KLDivLossKernel, Floats);
PHI_REGISTER_KERNEL(kldiv_loss_grad, CPU, KLDivLossGradKernel, Floats);

}  // namespace phi
