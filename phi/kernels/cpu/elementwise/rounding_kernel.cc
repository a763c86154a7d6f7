// Rounding, clipping and tests (such as isnan) on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/rounding.h"
