// Binary cross entropy with logits, and its gradient, on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/cpu/loops/nary_loop.h"
#include "phi/kernels/cpu/loss/combined_sums.h"
#include "phi/kernels/functors/losses.h"

namespace phi {
namespace {

constexpr int kSigmoidLabelInput = 1;

/// Returns 1 / the number of labels on all ranks that are not ignored.
template <typename T>
double share_of_label(const KernelContext& ctx, const DenseTensor& label, int ignore_index) {
  using C = compute_t<T>;
  const T* values = label.data<T>();
  const auto ignored = static_cast<C>(ignore_index);
  CombinedSums<1> count(ctx);
  count[0] = static_cast<double>(std::count_if(
      values, values + label.numel(), [=](T value) { return static_cast<C>(value) != ignored; }));
  count.combine(ctx, kSigmoidLabelInput, label.ndim());
  return 1 / std::max(count[0], 1e-5);
}

}  // namespace

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsKernel(const Context& ctx, const DenseTensor& x,
                                         const DenseTensor& label, const DenseTensor* pos_weight,
                                         bool normalize, int ignore_index, DenseTensor* out) {
  using C = compute_t<T>;
  const double share = normalize ? share_of_label<T>(ctx, label, ignore_index) : 1;
  const SigmoidCrossEntropyFunctor<C> loss{static_cast<C>(ignore_index), static_cast<C>(share)};
  if (pos_weight) return nary_loop<T>({&x, &label, pos_weight}, out, loss);
  nary_loop<T>({&x, &label}, out, loss);
}

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsGradKernel(const Context& ctx, const DenseTensor& x,
                                             const DenseTensor& label,
                                             const DenseTensor* pos_weight,
                                             const DenseTensor& out_grad, bool normalize,
                                             int ignore_index, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const double share = normalize ? share_of_label<T>(ctx, label, ignore_index) : 1;
  const SigmoidCrossEntropyGradFunctor<C> grad{static_cast<C>(ignore_index), static_cast<C>(share)};
  if (pos_weight) return nary_loop<T>({&x, &label, pos_weight, &out_grad}, x_grad, grad);
  nary_loop<T>({&x, &label, &out_grad}, x_grad, grad);
}

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsDry(const Context& ctx, const DenseTensor&,
                                      const DenseTensor& label, const DenseTensor*, bool normalize,
                                      int, DenseTensor*) {
  if (normalize) CombinedSums<1>(ctx).combine(ctx, kSigmoidLabelInput, label.ndim());
}

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsGradDry(const Context& ctx, const DenseTensor& x,
                                          const DenseTensor& label, const DenseTensor* pos_weight,
                                          const DenseTensor&, bool normalize, int ignore_index,
                                          DenseTensor* x_grad) {
  SigmoidCrossEntropyWithLogitsDry<T>(ctx, x, label, pos_weight, normalize, ignore_index, x_grad);
}

PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits, CPU, SigmoidCrossEntropyWithLogitsKernel,
                    Floats);
PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits_grad, CPU,
                    SigmoidCrossEntropyWithLogitsGradKernel, Floats);
PHI_REGISTER_DRY_KERNEL(sigmoid_cross_entropy_with_logits, SigmoidCrossEntropyWithLogitsDry,
                        Floats);
PHI_REGISTER_DRY_KERNEL(sigmoid_cross_entropy_with_logits_grad,
                        SigmoidCrossEntropyWithLogitsGradDry, Floats);

}  // namespace phi
