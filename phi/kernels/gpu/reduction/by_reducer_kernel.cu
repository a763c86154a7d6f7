// Reductions that are fully defined by a reducer, on GPUs.
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/templates/reduction/by_reducer.h"
