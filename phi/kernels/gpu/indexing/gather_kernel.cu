// Gathers of elements and slices on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/elements.h"
#include "phi/kernels/gpu/indexing/index_positions.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/templates/indexing/gather.h"
