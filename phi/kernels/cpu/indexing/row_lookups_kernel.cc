// Table lookups by row, and their gradients, on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/indexing/index_positions.h"
#include "phi/kernels/cpu/indexing/slices.h"
#include "phi/kernels/templates/indexing/row_lookups.h"
