// Gradients of activations on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/elementwise/activation_grad.h"
