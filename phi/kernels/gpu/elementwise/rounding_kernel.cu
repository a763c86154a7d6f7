// Rounding, clipping and predicates on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/rounding.h"
