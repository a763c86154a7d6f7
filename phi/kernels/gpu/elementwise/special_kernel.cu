// Error, gamma and Bessel functions, and their gradients, on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/special.h"
