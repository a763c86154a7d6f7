// matmul on the CPU.
#include "phi/core/device/scratch_context.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/matmul.h"

namespace phi {

template <typename T, typename Context>
void MatmulScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
                   bool transpose_y, DenseTensor* /*out*/) {
  const MatmulOperands in(x.dims(), y.dims(), transpose_x, transpose_y);
  plan_batched_matmul<T>(in.x, in.y, in.out, &ctx.scratch());
}

/// Integer sums wrap around.
PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, SignedIntegers);
PHI_REGISTER_SCRATCH(matmul, MatmulScratch, Halves);

}  // namespace phi
