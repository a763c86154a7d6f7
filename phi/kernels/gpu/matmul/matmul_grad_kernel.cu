// Gradients of matmul on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/matmul_grad.h"
