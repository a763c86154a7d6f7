// Activations on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/activation.h"
