// Reductions that a reducer says all of, on the CPU.
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/reduction/by_reducer.h"
