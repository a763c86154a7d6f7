// Powers, remainders, angles and other functions of two inputs on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/binary_math.h"
