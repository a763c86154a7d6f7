// Rounding, bounds and tests on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/rounding.h"
