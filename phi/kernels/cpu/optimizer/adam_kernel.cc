// Adam and AdamW on the CPU.
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/templates/optimizer/adam.h"
