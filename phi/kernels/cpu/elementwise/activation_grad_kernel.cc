// Gradients of activations on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/activation_grad.h"
