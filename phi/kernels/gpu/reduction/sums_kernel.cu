// Sums and means on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/reduction/sums.h"
