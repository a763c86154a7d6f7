// Gradients of common functions of one input on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/unary_grad.h"
