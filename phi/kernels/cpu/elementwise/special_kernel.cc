// Error, gamma and Bessel functions, and their gradients, on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/special.h"
