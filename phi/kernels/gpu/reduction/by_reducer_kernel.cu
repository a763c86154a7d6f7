// Reductions that a reducer says all of, on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/reduction/by_reducer.h"
