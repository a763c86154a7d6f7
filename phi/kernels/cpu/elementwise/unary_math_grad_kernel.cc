// Gradients of elementary unary functions on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/unary_math_grad.h"
