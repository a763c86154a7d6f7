// Gathers of elements and slices on the CPU.
#include "phi/kernels/cpu/indexing/element_places.h"
#include "phi/kernels/cpu/indexing/places.h"
#include "phi/kernels/cpu/indexing/slices.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/indexing/gather.h"
