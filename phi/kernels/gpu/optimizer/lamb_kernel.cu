// LAMB on GPUs: Adam's direction, scaled by the ratio of the norms of parameter and direction. The
// norms are combined over the ranks that have shards of the parameter, before any update.
#include <cmath>

#include "phi/generated/kernels/updates.h"
#include "phi/kernels/functors/optimizer.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/optimizer/step_loop.h"

namespace phi {
namespace {

template <typename C>
struct LambMaker {
  using Function = LambDirection<C>;
  C beta1, beta2;
  DeviceScalar power1, power2;
  C epsilon;
  C decay;
  SkipFlag skip;
  PHI_HD bool is_taken() const { return !skip.is_set(); }
  PHI_HD Function step() const {
    return {beta1,
            C(1) - beta1,
            beta2,
            C(1) - beta2,
            C(1) / (C(1) - power1.template as<C>()),
            C(1) / (C(1) - power2.template as<C>()),
            epsilon,
            decay};
  }
};

/// Arguments of the second pass: the sums of squares of weights and direction, null if the ratio is
/// not used.
template <typename T>
struct LambUpdate {
  using C = compute_t<T>;
  const T* param;
  const float* master;
  const C* direction;
  const double* squares;
  DeviceScalar rate;
  SkipFlag skip;
  T* param_out;
  float* master_out;

  PHI_HD C factor() const {
    const bool counts = squares != nullptr && squares[0] > 0 && squares[1] > 0;
    const double ratio = counts ? std::sqrt(squares[0] / squares[1]) : 1.0;
    return static_cast<C>(rate.template as<C>() * ratio);
  }
};

template <typename T>
__global__ void follow_direction(LambUpdate<T> x, int64_t n) {
  using C = compute_t<T>;
  const bool is_skipped = x.skip.is_set();
  const C factor = x.factor();
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const C weight = x.master ? static_cast<C>(x.master[i]) : static_cast<C>(x.param[i]);
    const C moved = weight - factor * x.direction[i];
    if (x.master) x.master_out[i] = is_skipped ? x.master[i] : static_cast<float>(moved);
    x.param_out[i] = is_skipped ? x.param[i] : static_cast<T>(moved);
  }
}

/// The sum of squares of a flat array.
template <typename C>
void sum_squares(const GpuContext& ctx, const C* x, int64_t n, double* sum) {
  reduce_all<SumOfSquaresReducer<C>>(ctx, x, n, sum);
}

/// The weights to update, in the compute type.
template <typename T>
DenseTensor weights_of(const GpuContext& ctx, const TrainedParam& x) {
  using C = compute_t<T>;
  if (x.master && kIs16Bit<T>) return *x.master;
  DenseTensor weights = DenseTensor::empty({x.param.dims(), dtype_of<C>()}, ctx.place());
  if (x.master) {
    convert(ctx, x.master->data<float>(), weights.mutable_data<C>(), weights.numel());
  } else {
    convert(ctx, x.param.data<T>(), weights.mutable_data<C>(), weights.numel());
  }
  return weights;
}

}  // namespace

/// The ratio is used if the weights decay, and always with always_adapt.
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
  const SkipFlag skip(skip_update);
  const TrainedParam x{param, grad, master_param, param_out, master_param_outs};
  const DenseTensor weights = weights_of<T>(ctx, x);
  DenseTensor direction = DenseTensor::empty({param.dims(), dtype_of<C>()}, ctx.place());
  DenseTensor grads = DenseTensor::empty(direction.meta(), ctx.place());
  const int64_t n = param.numel();
  if (grad.dtype() == dtype_of<T>()) {
    convert(ctx, grad.data<T>(), grads.mutable_data<C>(), n);
  } else {
    convert(ctx, grad.data<float>(), grads.mutable_data<C>(), n);
  }
  const DeviceScalar power1(beta1_pow);
  const DeviceScalar power2(beta2_pow);
  const std::array states = {OptimizerState{moment1, moment1_out},
                             OptimizerState{moment2, moment2_out}};
  gpu::launch_step<C, C>(ctx, {weights, grads, nullptr, &direction, nullptr}, states,
                         LambMaker<C>{beta1, beta2, power1, power2, epsilon, weight_decay, skip});
  DenseTensor sums = DenseTensor::empty({{2}, DataType::FLOAT64}, ctx.place());
  const bool adapts = weight_decay > 0 || always_adapt;
  if (adapts) {
    auto* both = sums.mutable_data<double>();
    sum_squares(ctx, weights.data<C>(), n, both);
    sum_squares(ctx, direction.data<C>(), n, both + 1);
    for (int d = 0; ctx.view() && d < param.ndim(); ++d) {
      ctx.view()->combine_over(0, d, CombineKind::kSum, &sums);
    }
  }
  const LambUpdate<T> update{param.data<T>(),
                             master_param ? master_param->data<float>() : nullptr,
                             direction.data<C>(),
                             adapts ? sums.data<double>() : nullptr,
                             DeviceScalar(learning_rate),
                             skip,
                             param_out->mutable_data<T>(),
                             master_param ? master_param_outs->mutable_data<float>() : nullptr};
  if (n > 0) {
    gpu::launch(ctx, follow_direction<T>, gpu::blocks_for(ctx, n), gpu::kBlock, update, n);
  }
  set_number_of(ctx, beta1_pow_out, ScaledScalar<C>{power1, static_cast<double>(C(beta1)), skip});
  set_number_of(ctx, beta2_pow_out, ScaledScalar<C>{power2, static_cast<double>(C(beta2)), skip});
}

PHI_REGISTER_KERNEL(lamb, GPU, LambKernel, Floats);

}  // namespace phi
