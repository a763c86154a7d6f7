// Communication operators on GPUs.
#define PHI_DEVICE GPU
#include "distributed/kernels/communication.h"
