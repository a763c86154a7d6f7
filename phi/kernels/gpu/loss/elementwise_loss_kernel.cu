// Losses of each element by itself, and their gradients, on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/loss/elementwise.h"
