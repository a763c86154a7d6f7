// Assignment to strided slices on the CPU.
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/indexing/set_value.h"
