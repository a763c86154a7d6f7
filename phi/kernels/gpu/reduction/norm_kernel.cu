// Norms over some tensor dims on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/reduction/norms.h"
