// tensor_unfold, as_strided and view_slice, and their gradients, on the CPU.
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/moves/views.h"
