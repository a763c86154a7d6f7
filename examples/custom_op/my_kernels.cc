// Kernels of my_ops.yaml on the CPU. Arrays are local: of a split tensor, this rank's part.
#include <phi/common/dtype.h>
#include <phi/core/device/device_context.h>

#include <algorithm>
#include <cmath>

#include "my_ops/kernels/my_backward.h"
#include "my_ops/kernels/my_ops.h"

namespace phi {
namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void SoftcapKernel(const Context&, const DenseTensor& x, float cap, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = T(cap) * std::tanh(from[i] / T(cap));
}

template <typename T, typename Context>
void SoftcapGradKernel(const Context&, const DenseTensor& out, const DenseTensor& out_grad,
                       float cap, DenseTensor* x_grad) {
  const T* y = out.data<T>();
  const T* g = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    const T t = y[i] / T(cap);
    to[i] = g[i] * (1 - t * t);
  }
}

// One over the root mean square of a group.
template <typename T>
T inverse_rms(const T* group, int size, float epsilon) {
  T squares = 0;
  for (int k = 0; k < size; ++k) squares += group[k] * group[k];
  return 1 / std::sqrt(squares / T(size) + T(epsilon));
}

template <typename T, typename Context>
void GroupRmsNormKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                        int group_size, float epsilon, DenseTensor* out) {
  const T* from = x.data<T>();
  const T* weights = scale.data<T>();
  T* to = out->mutable_data<T>();
  const int64_t width = scale.numel();
  for (int64_t start = 0; start < x.numel(); start += group_size) {
    const T inverse = inverse_rms(from + start, group_size, epsilon);
    const T* w = weights + start % width;
    for (int k = 0; k < group_size; ++k) to[start + k] = from[start + k] * inverse * w[k];
  }
}

// A gradient that nobody wants is null.
template <typename T, typename Context>
void GroupRmsNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                            const DenseTensor& out_grad, int group_size, float epsilon,
                            DenseTensor* x_grad, DenseTensor* scale_grad) {
  const int64_t width = scale.numel();
  T* to_x = x_grad != nullptr ? x_grad->mutable_data<T>() : nullptr;
  T* to_scale = scale_grad != nullptr ? scale_grad->mutable_data<T>() : nullptr;
  if (to_scale != nullptr) std::fill_n(to_scale, width, T(0));
  for (int64_t start = 0; start < x.numel(); start += group_size) {
    const T* in = x.data<T>() + start;
    const T* g = out_grad.data<T>() + start;
    const T* w = scale.data<T>() + start % width;
    const T inverse = inverse_rms(in, group_size, epsilon);
    T mean = 0;
    for (int k = 0; k < group_size; ++k) {
      mean += g[k] * w[k] * in[k] / T(group_size);
      if (to_scale != nullptr) to_scale[start % width + k] += g[k] * in[k] * inverse;
    }
    for (int k = 0; k < group_size && to_x != nullptr; ++k) {
      to_x[start + k] = inverse * (g[k] * w[k] - in[k] * inverse * inverse * mean);
    }
  }
}

template <typename T, typename Context>
void RowEnergyKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t width = x.dims().back();
  T* to = out->mutable_data<T>();
  for (int64_t row = 0; row < out->numel(); ++row) {
    const T* from = x.data<T>() + row * width;
    T sum = 0;
    for (int64_t k = 0; k < width; ++k) sum += from[k] * from[k];
    to[row] = sum;
  }
}

}  // namespace

PHI_REGISTER_KERNEL(softcap, CPU, SoftcapKernel, Floating);
PHI_REGISTER_KERNEL(softcap_grad, CPU, SoftcapGradKernel, Floating);
PHI_REGISTER_KERNEL(group_rms_norm, CPU, GroupRmsNormKernel, Floating);
PHI_REGISTER_KERNEL(group_rms_norm_grad, CPU, GroupRmsNormGradKernel, Floating);
PHI_REGISTER_KERNEL(row_energy, CPU, RowEnergyKernel, Floating);

}  // namespace phi
