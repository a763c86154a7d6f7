// Elementary unary functions on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/unary_math.h"
