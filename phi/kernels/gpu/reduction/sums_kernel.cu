// Sums and means on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/reduction/sums.h"
