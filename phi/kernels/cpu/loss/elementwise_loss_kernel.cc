// Elementwise losses, and their gradients, on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/loss/elementwise.h"
