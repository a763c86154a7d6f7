// Gradients of activations on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/activation_grad.h"
