// Elementary functions of complex numbers on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/complex_math.h"
