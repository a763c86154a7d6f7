// Kernels of own_ops.yaml on the CPU. Arrays are local: of a split tensor, this rank's part.
#include <phi/common/dtype.h>
#include <phi/core/device/device_context.h>

#include "own_ops/kernels/own_backward.h"
#include "own_ops/kernels/own_ops.h"

namespace phi {
namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void SoftKneeKernel(const Context&, const DenseTensor& x, float threshold, float slope,
                    DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  const T knee = T(threshold);
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = from[i] > knee ? from[i] : knee + T(slope) * (from[i] - knee);
  }
}

template <typename T, typename Context>
void SoftKneeGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                        float threshold, float slope, DenseTensor* x_grad) {
  const T* from = x.data<T>();
  const T* g = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] > T(threshold) ? g[i] : T(slope) * g[i];
}

}  // namespace

PHI_REGISTER_KERNEL(soft_knee, CPU, SoftKneeKernel, Floating);
PHI_REGISTER_KERNEL(soft_knee_grad, CPU, SoftKneeGradKernel, Floating);

}  // namespace phi
