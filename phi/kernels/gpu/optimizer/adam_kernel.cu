// Adam and AdamW on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/optimizer/step_loop.h"
#include "phi/kernels/templates/optimizer/adam.h"
