// matmul on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/cpu/planned_primitives.h"
#include "phi/kernels/templates/matmul/matmul.h"

namespace phi {

/// Integer sums wrap around.
PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, SignedIntegers);
PHI_REGISTER_SCRATCH(matmul, MatmulKernel, Halves);

}  // namespace phi
