// Gradients of elementary unary functions on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/unary_math_grad.h"
