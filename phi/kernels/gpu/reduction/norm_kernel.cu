// Norms over some tensor dims on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/reduction/norms.h"
