// Rounding, clipping and tests (such as isnan) on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/rounding.h"
