// The functions of one input that models use most on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/unary.h"
