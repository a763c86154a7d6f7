// Elementary functions of complex numbers on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/complex_math.h"
