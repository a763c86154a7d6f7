// Reductions that are fully defined by a reducer, on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/reduction/by_reducer.h"
