// Gradients of the unary functions that models use most, on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/unary_grad.h"
