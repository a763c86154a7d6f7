// Powers, remainders, angles and other functions of two inputs on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/binary_math.h"
