// Lists of arrays that are joined or taken apart on the CPU.
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/moves/joining.h"
