// matmul on the CPU.
#include "phi/kernels/cpu/matmul/batched_product.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/matmul/matmul.h"

namespace phi {
/// Integer sums wrap around.
PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, SignedIntegers);
}  // namespace phi
