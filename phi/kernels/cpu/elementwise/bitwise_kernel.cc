// Bitwise and logical operators on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/bitwise.h"
