// channel_shuffle, pixel_shuffle, pixel_unshuffle and temporal_shift on GPUs.
#include "phi/kernels/gpu/moves/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/moves/channels.h"
