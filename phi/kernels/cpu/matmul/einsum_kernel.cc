// einsum on the CPU.
#include "phi/kernels/cpu/data_movement/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/cpu/planned_primitives.h"
#include "phi/kernels/templates/matmul/einsum.h"

namespace phi {

// The arrays between matmuls are part of the statements.
PHI_REGISTER_SCRATCH(einsum, EinsumKernel, MatmulTypes);
PHI_REGISTER_SCRATCH(einsum_grad, EinsumGradKernel, MatmulTypes);

}  // namespace phi
