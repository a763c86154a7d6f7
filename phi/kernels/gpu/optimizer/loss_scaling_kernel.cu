// Loss scaling for half-precision training on GPUs: gradients are checked and unscaled, and the
// scale is updated. Results of ranks are combined.
#include <cmath>

#include "phi/generated/kernels/loss_scaling.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/optimizer/step_loop.h"

namespace phi {
namespace {

/// Sets found to 1 if an element is not finite.
template <typename T>
__global__ void find_not_finite(const T* x, int64_t n, int32_t* found) {
  using C = compute_t<T>;
  bool all_finite = true;
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const auto value = static_cast<C>(x[i]);
    all_finite = all_finite && value - value == C(0);  // NaN for infinities and NaN
  }
  if (!all_finite) atomicMax(found, 1);
}

/// An element times 1 / scale, or times 0 if one of the first `lists` flags is set.
template <typename T>
struct Unscale {
  using C = compute_t<T>;
  const T* x;
  const int32_t* found;
  int64_t lists;
  DeviceScalar scale;
  PHI_HD T operator()(int64_t i) const {
    bool is_found = false;
    for (int64_t k = 0; k < lists; ++k) is_found = is_found || found[k] != 0;
    const C factor = is_found ? C(0) : C(1) / scale.template as<C>();
    return static_cast<T>(static_cast<C>(x[i]) * factor);
  }
};

struct AnyOf {
  const int32_t* found;
  int64_t lists;
  PHI_HD bool operator()(int64_t) const {
    for (int64_t k = 0; k < lists; ++k) {
      if (found[k] != 0) return true;
    }
    return false;
  }
};

template <typename T>
struct ClearIf {
  const bool* found;
  const T* x;
  PHI_HD T operator()(int64_t i) const { return *found ? T(0.0f) : x[i]; }
};

/// New values of the scale's state, and the rules of its update.
struct ScaleNumbers {
  DeviceScalar scale;
  DeviceScalar good_steps;
  DeviceScalar bad_steps;
  const bool* found;
  gpu::ScalarOutput scale_out;
  gpu::ScalarOutput good_out;
  gpu::ScalarOutput bad_out;
  int incr_every_n_steps;
  int decr_every_n_nan_or_inf;
  float incr_ratio;
  float decr_ratio;
  bool stop_update;
};

__device__ bool is_finite_as(double value, DataType dtype) {
  switch (dtype) {
    case DataType::FLOAT16:
      return std::isfinite(static_cast<float>(float16(static_cast<float>(value))));
    case DataType::BFLOAT16:
      return std::isfinite(static_cast<float>(bfloat16(static_cast<float>(value))));
    case DataType::FLOAT32:
      return std::isfinite(static_cast<float>(value));
    default:
      return std::isfinite(value);
  }
}

/// Runs as one thread. Reads all inputs before writing, because outputs may be inputs.
__global__ void update_scale(ScaleNumbers set) {
  auto scale = set.scale.as<double>();
  auto good = set.good_steps.as<int64_t>();
  auto bad = set.bad_steps.as<int64_t>();
  const bool found = *set.found;
  if (!set.stop_update) {
    good = found ? 0 : good + 1;
    bad = found ? bad + 1 : 0;
    if (found && bad == set.decr_every_n_nan_or_inf) {
      scale = scale * set.decr_ratio > 1.0 ? scale * set.decr_ratio : 1.0;
      bad = 0;
    }
    if (!found && good == set.incr_every_n_steps) {
      const double grown = scale * set.incr_ratio;
      scale = is_finite_as(grown, set.scale_out.dtype) ? grown : scale;
      good = 0;
    }
  }
  gpu::store_scalar(set.scale_out, scale);
  gpu::store_scalar(set.good_out, good);
  gpu::store_scalar(set.bad_out, bad);
}

}  // namespace

/// Divides each tensor of x by scale. The first tensor with an infinity or NaN, and those after it,
/// are multiplied by 0 instead. found_infinite reports whether there is one.
template <typename T, typename Context>
void CheckFiniteAndUnscaleKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                                 const DenseTensor& scale, std::span<DenseTensor* const> out,
                                 DenseTensor* found_infinite) {
  const auto lists = static_cast<int64_t>(x.size());
  DenseTensor found = DenseTensor::empty({{lists}, DataType::INT32}, ctx.place());
  fill(ctx, found.mutable_data<int32_t>(), lists, int32_t{0});
  for (int64_t k = 0; k < lists; ++k) {
    const DenseTensor& own = *x[static_cast<size_t>(k)];
    DenseTensor flag = found.rows(k, k + 1);
    const int64_t n = own.numel();
    if (n > 0) {
      gpu::launch(ctx, find_not_finite<T>, gpu::blocks_for(ctx, n), gpu::kBlock, own.data<T>(), n,
                  flag.mutable_data<int32_t>());
    }
    for (int d = 0; ctx.view() && d < own.ndim(); ++d) {
      ctx.view()->combine_over(static_cast<int>(k), d, CombineKind::kMax, &flag);
    }
    DenseTensor* const to = out[static_cast<size_t>(k)];
    index_loop(ctx, to->mutable_data<T>(), n,
               Unscale<T>{own.data<T>(), found.data<int32_t>(), k + 1, DeviceScalar(scale)});
  }
  index_loop(ctx, found_infinite->mutable_data<bool>(), 1, AnyOf{found.data<int32_t>(), lists});
}

template <typename T, typename Context>
void UpdateLossScalingKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                             const DenseTensor& found_infinite,
                             const DenseTensor& prev_loss_scaling, const DenseTensor& in_good_steps,
                             const DenseTensor& in_bad_steps, int incr_every_n_steps,
                             int decr_every_n_nan_or_inf, float incr_ratio, float decr_ratio,
                             const Scalar& stop_update, std::span<DenseTensor* const> out,
                             DenseTensor* loss_scaling, DenseTensor* out_good_steps,
                             DenseTensor* out_bad_steps) {
  const bool* const found = found_infinite.data<bool>();
  for (size_t i = 0; i < x.size(); ++i) {
    index_loop(ctx, out[i]->mutable_data<T>(), x[i]->numel(), ClearIf<T>{found, x[i]->data<T>()});
  }
  gpu::launch(ctx, update_scale, 1, 1,
              ScaleNumbers{DeviceScalar(prev_loss_scaling), DeviceScalar(in_good_steps),
                           DeviceScalar(in_bad_steps), found, gpu::ScalarOutput(loss_scaling),
                           gpu::ScalarOutput(out_good_steps), gpu::ScalarOutput(out_bad_steps),
                           incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio,
                           stop_update.to<bool>()});
}

PHI_REGISTER_KERNEL(check_finite_and_unscale, GPU, CheckFiniteAndUnscaleKernel, Floats);
PHI_REGISTER_KERNEL(update_loss_scaling, GPU, UpdateLossScalingKernel, Floats);

}  // namespace phi
