// tensor_unfold, as_strided and view_slice, and their gradients, on the CPU.
#include "phi/kernels/cpu/data_movement/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/data_movement/views.h"
