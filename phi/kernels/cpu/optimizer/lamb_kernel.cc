// LAMB on the CPU: Adam's direction, scaled to the length of the param. It takes two passes,
// because the direction's norm over the whole param, combined over the ranks that hold parts of it,
// is needed before any update.
#include <cmath>
#include <memory>

#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/optimizer.h"

namespace phi {
namespace {

template <typename C>
double squares(const C* x, int64_t n) {
  return row_sum<double>(n, [x](int64_t i) {
    const auto value = static_cast<double>(x[i]);
    return value * value;
  });
}

/// Copies the weights on which the step runs, in the compute type.
template <typename T, typename C>
void read_weights(const TrainedParam& x, C* weights) {
  if (x.master) {
    convert(x.master->data<float>(), weights, x.param.numel());
  } else {
    convert(x.param.data<T>(), weights, x.param.numel());
  }
}

template <typename T, typename C>
void write_weights(const TrainedParam& x, const C* weights) {
  if (x.master) convert(weights, x.master_out->mutable_data<float>(), x.param.numel());
  convert(weights, x.param_out->mutable_data<T>(), x.param.numel());
}

/// Returns a new array to pass as a step's param, so that the step writes the direction there.
DenseTensor scratch(const DenseTensor& like, DataType dtype) {
  return scratch_array({like.dims(), dtype}, CPUPlace());
}

/// Adds up two sums of squares over the ranks that hold parts of the param.
void combine_squares(const KernelContext& ctx, int ndim, DenseTensor* sums) {
  for (int d = 0; ctx.view() && d < ndim; ++d)
    ctx.view()->combine_over(0, d, CombineKind::kSum, sums);
}

/// Returns |weights| / |direction|, 1 if either is 0.
double trust_ratio(const KernelContext& ctx, double weights, double direction, int ndim) {
  DenseTensor sums = DenseTensor::empty({Dims{2}, DataType::FLOAT64}, CPUPlace());
  double* both = sums.mutable_data<double>();
  both[0] = weights;
  both[1] = direction;
  combine_squares(ctx, ndim, &sums);
  return both[0] > 0 && both[1] > 0 ? std::sqrt(both[0] / both[1]) : 1.0;
}

}  // namespace

/// The ratio is used if weights decay, and always with always_adapt.
template <typename T, typename Context>
void LambKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                const DenseTensor& learning_rate, const DenseTensor& moment1,
                const DenseTensor& moment2, const DenseTensor& beta1_pow,
                const DenseTensor& beta2_pow, const DenseTensor* master_param,
                const DenseTensor* skip_update, float weight_decay, float beta1, float beta2,
                float epsilon, bool always_adapt, DenseTensor* param_out, DenseTensor* moment1_out,
                DenseTensor* moment2_out, DenseTensor* beta1_pow_out, DenseTensor* beta2_pow_out,
                DenseTensor* master_param_outs) {
  using C = compute_t<T>;
  const TrainedParam x{param, grad, master_param, param_out, master_param_outs};
  const OptimizerState moments[] = {{moment1, moment1_out},
                                    {moment2, moment2_out},
                                    {beta1_pow, beta1_pow_out},
                                    {beta2_pow, beta2_pow_out}};
  if (skip_update && *skip_update->data<bool>()) {
    keep(param, param_out);
    keep(master_param, master_param_outs);
    for (const OptimizerState& state : moments) keep(state.from, state.to);
    return;
  }
  const C b1 = beta1;
  const C b2 = beta2;
  const C power1 = number_at<C>(beta1_pow);
  const C power2 = number_at<C>(beta2_pow);
  const int64_t n = param.numel();
  DenseTensor weights = scratch(param, dtype_of<C>());
  DenseTensor direction = scratch(param, dtype_of<C>());
  C* w = weights.mutable_data<C>();
  read_weights<T>(x, w);
  DenseTensor grads = scratch(param, dtype_of<C>());
  visit_dtype(grad.dtype(),
              [&]<typename G>() { convert(grad.data<G>(), grads.mutable_data<C>(), n); });
  take_step<C>({weights, grads, nullptr, &direction, nullptr}, {moments[0], moments[1]},
               LambDirection<C>{b1, C(1) - b1, b2, C(1) - b2, C(1) / (C(1) - power1),
                                C(1) / (C(1) - power2), epsilon, weight_decay});
  const C* towards = direction.data<C>();
  double ratio = 1;
  if (weight_decay > 0 || always_adapt)
    ratio = trust_ratio(ctx, squares(w, n), squares(towards, n), param.ndim());
  const C rate = static_cast<C>(number_at<C>(learning_rate) * ratio);
  for (int64_t i = 0; i < n; ++i) w[i] -= rate * towards[i];
  write_weights<T>(x, w);
  set_number(beta1_pow_out, power1 * b1);
  set_number(beta2_pow_out, power2 * b2);
}

// A dry run counts the messages of LambKernel.
template <typename T, typename Context>
void LambDry(const Context& ctx, const DenseTensor& param, const DenseTensor&, const DenseTensor&,
             const DenseTensor&, const DenseTensor&, const DenseTensor&, const DenseTensor&,
             const DenseTensor*, const DenseTensor*, float weight_decay, float, float, float,
             bool always_adapt, DenseTensor*, DenseTensor*, DenseTensor*, DenseTensor*,
             DenseTensor*, DenseTensor*) {
  if (weight_decay <= 0 && !always_adapt) return;
  DenseTensor sums = DenseTensor::empty({Dims{2}, DataType::FLOAT64}, ctx.place());
  combine_squares(ctx, param.ndim(), &sums);
}

PHI_REGISTER_KERNEL(lamb, CPU, LambKernel, Floats);
PHI_REGISTER_DRY_KERNEL(lamb, LambDry, Floats);

}  // namespace phi
