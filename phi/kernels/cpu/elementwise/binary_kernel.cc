// Elementwise kernels of two inputs on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/templates/elementwise/binary.h"
