// einsum on GPUs.
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/einsum.h"
