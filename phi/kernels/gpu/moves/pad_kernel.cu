// Padding on GPUs.
#include "phi/kernels/gpu/moves/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/moves/pad.h"
