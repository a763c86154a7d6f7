// Assignment to strided slices on the CPU.
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/indexing/set_value.h"
