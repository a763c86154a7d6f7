// The gated linear unit on the CPU.
#include "phi/kernels/swiglu_kernel.h"

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/elementwise_loop.h"
#include "phi/kernels/functors/fast_math.h"

namespace phi {
namespace {

struct SwiGLUFunctor {
  template <typename C>
  PHI_HD C operator()(C x, C y) const {
    return x * fast::sigmoid(x) * y;
  }
};

}  // namespace

template <typename T>
void SwiGLUKernel(const CpuContext&, const DenseTensor& x, const DenseTensor* y, DenseTensor* out) {
  if (out->numel() == 0) return;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (y) return binary_run<1, 1>(from, y->data<T>(), to, out->numel(), SwiGLUFunctor());
  const int64_t half = out->dims().back();
  const int64_t rows = out->numel() / half;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = from + r * 2 * half;
    binary_run<1, 1>(row, row + half, to + r * half, half, SwiGLUFunctor());
  }
}

PHI_REGISTER_KERNEL(swiglu, CPU, SwiGLUKernel, float, double, bfloat16, float16);

}  // namespace phi
