// Matrix products on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"

namespace phi {

/// out = x @ y as MatmulInferMeta says. Sums of 16-bit arguments are
/// kept in float and rounded once. An inner extent of 0 gives zeros.
template <typename T, typename Context>
void MatmulKernel(const Context&, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
                  bool transpose_y, DenseTensor* out) {
  const MatmulOperands in(x.dims(), y.dims(), transpose_x, transpose_y);
  batched_product(in.x, x.data<T>(), in.y, y.data<T>(), in.out, out->mutable_data<T>());
}

PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, ProductTypes);

}  // namespace phi
