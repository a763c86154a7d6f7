// Bitwise and logical kernels on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/bitwise.h"
