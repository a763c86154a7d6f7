// Chains of matmuls on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/multi_dot.h"
