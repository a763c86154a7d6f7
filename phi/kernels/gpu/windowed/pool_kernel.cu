// Max, average and Lp pooling and their gradients on GPUs.
#include <cmath>

#include "phi/generated/kernels/pool.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/windowed/pool_windows.h"

namespace phi {
namespace {

using gpu::CoveringWindow;
using gpu::PoolWindows;
using gpu::SumOverWindows;

template <typename T>
struct AveragePool {
  using C = compute_t<T>;
  PoolWindows windows;
  bool padded;
  const T* x;
  __device__ T operator()(int64_t i) const {
    const gpu::PoolCoordinates p = output_place(windows, i);
    const T* const image = x + p.image * windows.image_size();
    C sum = 0;
    for_each_element(windows, p, [&](int64_t at) { sum += static_cast<C>(image[at]); });
    const auto count = static_cast<C>(windows.count(p.at[0], p.at[1], p.at[2], padded));
    return static_cast<T>(count > C(0) ? sum / count : C(0));
  }
};

template <typename T>
struct MaxPool {
  using C = compute_t<T>;
  PoolWindows windows;
  const T* x;
  __device__ T operator()(int64_t i) const {
    const gpu::PoolCoordinates p = output_place(windows, i);
    const T* const image = x + p.image * windows.image_size();
    auto most = static_cast<C>(MaxFold::kStart);
    for_each_element(windows, p,
                     [&](int64_t at) { most = MaxFold::join(most, static_cast<C>(image[at])); });
    const auto count = static_cast<C>(windows.count(p.at[0], p.at[1], p.at[2], false));
    return static_cast<T>(MaxFold::finish(most, count));
  }
};

template <typename T>
struct IndexOfLargest {
  PoolWindows windows;
  const T* x;
  __device__ int64_t operator()(int64_t i) const {
    return gpu::LargestOfWindow<compute_t<T>>(windows, i, x).place;
  }
};

template <typename T>
struct AveragePoolGrad {
  using C = compute_t<T>;
  bool padded;
  const T* out_grad;
  __device__ C operator()(const PoolWindows& windows, const CoveringWindow& covering) const {
    const int64_t* const w = covering.window;
    const auto count = static_cast<C>(windows.count(w[0], w[1], w[2], padded));
    return count > C(0) ? static_cast<C>(out_grad[covering.output]) / count : C(0);
  }
};

template <typename T>
struct MaxPoolGrad {
  using C = compute_t<T>;
  const int64_t* places;
  const T* out_grad;
  __device__ C operator()(const PoolWindows&, const CoveringWindow& covering) const {
    return places[covering.output] == covering.in_image ? static_cast<C>(out_grad[covering.output])
                                                        : C(0);
  }
};

/// x^p, and its inverse.
template <typename C>
struct Power {
  C p;
  PHI_HD C operator()(C x) const {
    if (p == C(0)) return C(1);
    if (p == C(1)) return x;
    return p == C(2) ? x * x : std::pow(x, p);
  }
  PHI_HD C root(C sum) const {
    if (p == C(1)) return sum;
    return p == C(2) ? std::sqrt(sum) : std::pow(sum, C(1) / p);
  }
};

template <typename T>
struct LpPool {
  using C = compute_t<T>;
  PoolWindows windows;
  Power<C> power;
  const T* x;
  __device__ T operator()(int64_t i) const {
    const gpu::PoolCoordinates p = output_place(windows, i);
    const T* const image = x + p.image * windows.image_size();
    C sum = 0;
    for_each_element(windows, p, [&](int64_t at) { sum += power(static_cast<C>(image[at])); });
    return static_cast<T>(power.root(sum));
  }
};

/// Gradient of Lp pooling. A window of zeros passes no gradient, unless its norm is a sum.
template <typename T>
struct LpPoolGrad {
  using C = compute_t<T>;
  Power<C> derivative;  // derivative of a term: x to this power
  const T* x;
  const T* norms;
  const T* out_grad;
  __device__ C operator()(const PoolWindows&, const CoveringWindow& covering) const {
    const auto norm = static_cast<C>(norms[covering.output]);
    const bool is_sum = derivative.p == C(0);
    if (norm == C(0) && !is_sum) return C(0);
    const C share = static_cast<C>(out_grad[covering.output]) / derivative(norm);
    return share * derivative(static_cast<C>(x[covering.element]));
  }
};

template <typename T>
void pool(const GpuContext& ctx, const PoolImages& images, bool is_max, bool padded,
          const DenseTensor& x, DenseTensor* out) {
  if (out->numel() == 0) return;
  const gpu::DeviceWindows windows(ctx, images);
  T* const to = out->mutable_data<T>();
  if (is_max) return index_loop(ctx, to, out->numel(), MaxPool<T>{windows.get(), x.data<T>()});
  index_loop(ctx, to, out->numel(), AveragePool<T>{windows.get(), padded, x.data<T>()});
}

template <typename T>
void pool_grad(const GpuContext& ctx, const PoolImages& images, bool is_max, bool padded,
               const DenseTensor& x, const DenseTensor& out_grad, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const gpu::DeviceWindows windows(ctx, images);
  T* const to = x_grad->mutable_data<T>();
  const T* const g = out_grad.data<T>();
  if (!is_max) {
    return index_loop(ctx, to, x.numel(),
                      SumOverWindows<T, AveragePoolGrad<T>>{windows.get(), {padded, g}});
  }
  DenseTensor places = DenseTensor::empty({out_grad.dims(), DataType::INT64}, ctx.place());
  index_loop(ctx, places.mutable_data<int64_t>(), places.numel(),
             IndexOfLargest<T>{windows.get(), x.data<T>()});
  index_loop(ctx, to, x.numel(),
             SumOverWindows<T, MaxPoolGrad<T>>{windows.get(), {places.data<int64_t>(), g}});
}

}  // namespace

template <typename T, typename Context>
void LpPoolKernel(const Context& ctx, const DenseTensor& x, const IntArray& kernel_size,
                  const std::vector<int>& strides, const std::vector<int>& paddings, bool ceil_mode,
                  const std::string& data_format, bool global_pooling, bool adaptive,
                  const std::string& padding_algorithm, float norm_type, DenseTensor* out) {
  if (out->numel() == 0) return;
  const PoolImages images = pool_images(x, data_format,
                                        {entries(kernel_size), strides, paddings, ceil_mode,
                                         global_pooling, adaptive, padding_algorithm});
  const gpu::DeviceWindows windows(ctx, images);
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             LpPool<T>{windows.get(), {static_cast<compute_t<T>>(norm_type)}, x.data<T>()});
}

template <typename T, typename Context>
void LpPoolGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                      const DenseTensor& out_grad, const IntArray& kernel_size,
                      const std::vector<int>& strides, const std::vector<int>& paddings,
                      bool ceil_mode, const std::string& data_format, bool global_pooling,
                      bool adaptive, const std::string& padding_algorithm, float norm_type,
                      DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const PoolImages images = pool_images(x, data_format,
                                        {entries(kernel_size), strides, paddings, ceil_mode,
                                         global_pooling, adaptive, padding_algorithm});
  const gpu::DeviceWindows windows(ctx, images);
  const LpPoolGrad<T> term{{static_cast<compute_t<T>>(norm_type - 1.0f)},
                           x.data<T>(),
                           out.data<T>(),
                           out_grad.data<T>()};
  index_loop(ctx, x_grad->mutable_data<T>(), x.numel(),
             SumOverWindows<T, LpPoolGrad<T>>{windows.get(), term});
}

PHI_REGISTER_KERNEL(lp_pool, GPU, LpPoolKernel, Floats);
PHI_REGISTER_KERNEL(lp_pool_grad, GPU, LpPoolGradKernel, Floats);

}  // namespace phi

#include "phi/kernels/templates/windowed/pool.h"
