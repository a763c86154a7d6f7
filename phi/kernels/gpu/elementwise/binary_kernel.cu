// Elementwise kernels of two inputs on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/binary.h"
