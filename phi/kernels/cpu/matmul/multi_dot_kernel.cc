// Chains of matmuls on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/multi_dot.h"
