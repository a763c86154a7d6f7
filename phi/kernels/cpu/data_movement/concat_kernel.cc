// stack, unbind, meshgrid and other operators on lists of arrays, on the CPU.
#include "phi/kernels/cpu/data_movement/move.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/data_movement/concat.h"
