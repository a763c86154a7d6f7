// Error, gamma and Bessel functions, and their gradients, on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/special.h"
