// Padding on the CPU.
#include "phi/kernels/cpu/data_movement/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/data_movement/pad.h"
