// Windows, strided views and rows on the CPU.
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/moves/views.h"
