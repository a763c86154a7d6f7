// Chains of matmuls on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/cpu/planned_primitives.h"
#include "phi/kernels/templates/matmul/multi_dot.h"

namespace phi {

// The arrays between matmuls are part of the statements.
PHI_REGISTER_SCRATCH(multi_dot, MultiDotKernel, MatmulTypes);
PHI_REGISTER_SCRATCH(multi_dot_grad, MultiDotGradKernel, MatmulTypes);

}  // namespace phi
