// Rounding, clipping and predicates on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/rounding.h"
