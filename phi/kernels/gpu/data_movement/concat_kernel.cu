// stack, unbind, meshgrid and similar kernels on GPUs.
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/data_movement/concat.h"
