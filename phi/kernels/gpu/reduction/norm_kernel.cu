// Norms over some tensor dims on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/reduction/norms.h"
