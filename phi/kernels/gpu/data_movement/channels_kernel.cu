// channel_shuffle, pixel_shuffle, pixel_unshuffle and temporal_shift on GPUs.
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/data_movement/channels.h"
