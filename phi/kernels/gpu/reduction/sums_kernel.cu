// Sums and means on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/reduction/sums.h"
