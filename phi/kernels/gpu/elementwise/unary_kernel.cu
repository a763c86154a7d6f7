// The functions of one input that models use most on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/unary.h"
