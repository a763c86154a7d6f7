// Matrix products on the CPU.
#include "phi/kernels/matmul_kernel.h"

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"

namespace phi {

template <typename T>
void MatmulKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
                  bool transpose_y, DenseTensor* out) {
  const MatmulOperands in(x.dims(), y.dims(), transpose_x, transpose_y);
  batched_product(in.x, x.data<T>(), in.y, y.data<T>(), in.out, out->mutable_data<T>());
}

PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, float, double, bfloat16, float16);

}  // namespace phi
