// Gradients of matmuls on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/cpu/planned_primitives.h"
#include "phi/kernels/templates/matmul/matmul_grad.h"

namespace phi {

PHI_REGISTER_SCRATCH(matmul_grad, MatmulGradKernel, Halves);

}  // namespace phi
