// Activations on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/activation.h"
