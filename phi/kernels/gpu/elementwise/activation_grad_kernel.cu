// Gradients of activations on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/activation_grad.h"
