// Pooling of plain, adaptive and global windows on the CPU: maxima, averages and norms, with their
// gradients. Ranks hold whole images of some channels.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/pool.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/windowed/pool_loops.h"

namespace phi {
namespace {

/// The gradient of an element is the sum over the windows of which it is the maximum.
template <typename T>
void max_grad(const PoolImages& images, const T* x, const T* out_grad, T* x_grad) {
  using C = compute_t<T>;
  const int64_t image_size = images.image_size();
  const int64_t output_size = images.windows(0) * images.windows(1) * images.output_row_size();
  const auto sums = std::make_unique<C[]>(images.outer * image_size);
  pool_maxima(images, x, [&](int64_t output, C, int64_t place) {
    if (place < 0) return;
    const int64_t image = output / output_size;
    const int64_t channel = images.inner == 1 ? 0 : output % images.inner;
    sums[image * image_size + place * images.inner + channel] += convert_value<C>(out_grad[output]);
  });
  convert(sums.get(), x_grad, images.outer * image_size);
}

template <typename T>
void pool(const CpuContext&, const PoolImages& images, bool is_max, bool padded,
          const DenseTensor& input, DenseTensor* output) {
  const T* x = input.data<T>();
  T* out = output->mutable_data<T>();
  using C = compute_t<T>;
  if (is_max) return pool_windows(images, false, x, MaxFold(), out);
  const auto term = [](C value) { return value; };
  const auto finish = [](C sum, C count) { return count > C(0) ? sum / count : C(0); };
  pool_windows(images, padded, x, SumFold{term, finish}, out);
}

template <typename T>
void pool_grad(const CpuContext&, const PoolImages& images, bool is_max, bool padded,
               const DenseTensor& input, const DenseTensor& output_grad, DenseTensor* input_grad) {
  const T* x = input.data<T>();
  const T* out_grad = output_grad.data<T>();
  T* x_grad = input_grad->mutable_data<T>();
  using C = compute_t<T>;
  if (is_max) return max_grad(images, x, out_grad, x_grad);
  pool_sums_grad(
      images, padded, x,
      [&](int64_t output, C count) {
        return count > C(0) ? convert_value<C>(out_grad[output]) / count : C(0);
      },
      [](C) { return C(1); }, x_grad);
}

/// Calls f(power, root), with fast versions for common exponents.
template <typename C, typename F>
void with_power(float p, F f) {
  const auto power = static_cast<C>(p);
  if (p == 1.0f) return f([](C x) { return x; }, [](C sum) { return sum; });
  if (p == 2.0f) return f([](C x) { return x * x; }, [](C sum) { return std::sqrt(sum); });
  f([power](C x) { return std::pow(x, power); },
    [power](C sum) { return std::pow(sum, C(1) / power); });
}

}  // namespace

template <typename T, typename Context>
void LpPoolKernel(const Context&, const DenseTensor& x, const IntArray& kernel_size,
                  const std::vector<int>& strides, const std::vector<int>& paddings, bool ceil_mode,
                  const std::string& data_format, bool global_pooling, bool adaptive,
                  const std::string& padding_algorithm, float norm_type, DenseTensor* out) {
  using C = compute_t<T>;
  const PoolImages images = pool_images(x, data_format,
                                        {entries(kernel_size), strides, paddings, ceil_mode,
                                         global_pooling, adaptive, padding_algorithm});
  with_power<C>(norm_type, [&](auto power, auto root) {
    const auto finish = [root](C sum, C) { return root(sum); };
    pool_windows(images, false, x.data<T>(), SumFold{power, finish}, out->mutable_data<T>());
  });
}

/// A window of zeros has gradient 0.
template <typename T, typename Context>
void LpPoolGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                      const DenseTensor& out_grad, const IntArray& kernel_size,
                      const std::vector<int>& strides, const std::vector<int>& paddings,
                      bool ceil_mode, const std::string& data_format, bool global_pooling,
                      bool adaptive, const std::string& padding_algorithm, float norm_type,
                      DenseTensor* x_grad) {
  using C = compute_t<T>;
  const PoolImages images = pool_images(x, data_format,
                                        {entries(kernel_size), strides, paddings, ceil_mode,
                                         global_pooling, adaptive, padding_algorithm});
  const T* norms = out.data<T>();
  const T* g = out_grad.data<T>();
  const auto run = [&](auto power) {
    pool_sums_grad(
        images, false, x.data<T>(),
        [&](int64_t output, C) {
          const C norm = convert_value<C>(norms[output]);
          const C share = convert_value<C>(g[output]) / power(norm);
          return norm == C(0) && norm_type != 1.0f ? C(0) : share;
        },
        power, x_grad->mutable_data<T>());
  };
  if (norm_type == 1.0f) return run([](C) { return C(1); });
  with_power<C>(norm_type - 1.0f, [&](auto power, auto) { run(power); });
}

PHI_REGISTER_KERNEL(lp_pool, CPU, LpPoolKernel, Floats);
PHI_REGISTER_KERNEL(lp_pool_grad, CPU, LpPoolGradKernel, Floats);

}  // namespace phi

#include "phi/kernels/templates/windowed/pool.h"
