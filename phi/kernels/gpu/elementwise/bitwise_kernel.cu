// Bitwise and logical kernels on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/bitwise.h"
