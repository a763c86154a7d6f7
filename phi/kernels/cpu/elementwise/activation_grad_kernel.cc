// Gradients of activations on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/activation_grad.h"
