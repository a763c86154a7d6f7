// Elementwise losses and their gradients on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/loss/elementwise.h"
