// Lists of arrays that are joined or taken apart on GPUs.
#include "phi/kernels/gpu/moves/move.h"
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/tables/moves/joining.h"
