// Elementary functions of complex numbers on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/complex_math.h"
