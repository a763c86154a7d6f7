// Bitwise and logical operators on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/bitwise.h"
