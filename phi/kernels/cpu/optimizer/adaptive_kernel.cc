// Steps whose size adapts to the gradients so far on the CPU.
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/optimizer/adaptive.h"
