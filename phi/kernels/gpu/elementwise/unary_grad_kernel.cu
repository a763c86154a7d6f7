// Gradients of the functions of one input that models use most on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/unary_grad.h"
