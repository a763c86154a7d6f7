// Norms over some tensor dims on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/reduction/norms.h"
