// as_strided, tensor_unfold and view_slice on GPUs.
#include "phi/kernels/gpu/moves/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/moves/views.h"
