// Elementwise losses and their gradients on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/loss/elementwise.h"
