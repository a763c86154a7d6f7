// Reductions that are fully defined by their reducer, on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/reduction/by_reducer.h"
