// The Kullback-Leibler divergence and its gradient on the CPU.
#include <string>

#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/cpu/loops/nary_loop.h"
#include "phi/kernels/cpu/reduction/reduce_loop.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/kldiv_divisor.h"

namespace phi {
namespace {

/// Functors of the compute type, so that all element types share their loops. `log_target` is a
/// template parameter because loops do not vectorise if it is a member.
template <typename C, bool kLogTarget>
struct KlDivTerm {
  C operator()(C x, C label) const { return KLDivLossFunctor<C>{kLogTarget}(x, label); }
};

template <typename C, bool kLogTarget>
struct KlDivTermGrad {
  C operator()(C label, C g) const { return KLDivLossGradFunctor<C>{kLogTarget}(label, g * share); }
  C share;
};

}  // namespace

/// Divides the local sum by global counts, so that the sum of the ranks' results is the loss.
template <typename T, typename Context>
void KLDivLossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                     const std::string& reduction, bool log_target, DenseTensor* out) {
  using C = compute_t<T>;
  const auto with_term = [log_target](auto&& run) {
    log_target ? run(KlDivTerm<C, true>()) : run(KlDivTerm<C, false>());
  };
  if (reduction == "none")
    return with_term([&](auto term) { nary_loop<T>({&x, &label}, out, term); });
  DenseTensor terms = scratch_array({x.dims(), dtype_of<C>()}, ctx.place());
  C* const to = terms.mutable_data<C>();
  with_term([&](auto term) { nary_loop<T>(std::array{&x, &label}, to, x.dims(), term); });
  const double by = kldiv_divisor(ctx, x, reduction);
  reduce<SumReducer<C>>(ctx, to, x.dims(), AxisSet::all(x.ndim()), out->mutable_data<T>(),
                        [by](double sum) { return sum / by; });
}

template <typename T, typename Context>
void KLDivLossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& label,
                         const DenseTensor& out_grad, const std::string& reduction, bool log_target,
                         DenseTensor* x_grad) {
  using C = compute_t<T>;
  const auto share = static_cast<C>(1 / kldiv_divisor(ctx, x, reduction));
  if (log_target) return nary_loop<T>({&label, &out_grad}, x_grad, KlDivTermGrad<C, true>{share});
  nary_loop<T>({&label, &out_grad}, x_grad, KlDivTermGrad<C, false>{share});
}

PHI_REGISTER_KERNEL(kldiv_loss, CPU, KLDivLossKernel, Floats);
PHI_REGISTER_KERNEL(kldiv_loss_grad, CPU, KLDivLossGradKernel, Floats);

}  // namespace phi
