// Elementwise kernels of two inputs on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/elementwise/binary.h"
