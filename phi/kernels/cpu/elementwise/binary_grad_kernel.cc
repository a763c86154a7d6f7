// Gradients of elementwise kernels of two inputs on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/elementwise/binary_grad.h"
