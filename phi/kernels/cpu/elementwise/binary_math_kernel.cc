// Powers, remainders, angles and other functions of two inputs on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/binary_math.h"
