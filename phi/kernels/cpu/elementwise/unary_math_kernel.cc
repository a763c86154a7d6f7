// Elementary unary functions on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/unary_math.h"
