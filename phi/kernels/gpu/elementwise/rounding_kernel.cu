// Rounding, clipping and predicates on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/rounding.h"
