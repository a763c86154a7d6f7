// Gradients of activations on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/activation_grad.h"
