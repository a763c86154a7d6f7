// Elementary functions of complex numbers on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/complex_math.h"
