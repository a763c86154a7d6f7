// Elementwise losses, and their gradients, on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/loss/elementwise.h"
