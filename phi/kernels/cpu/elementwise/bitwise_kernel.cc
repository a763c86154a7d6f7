// Bitwise and logical operators on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/bitwise.h"
