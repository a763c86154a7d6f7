// Defines the symbol whose name identifies the headers of this build (phi/generated/abi.h).
#include "phi/generated/abi.h"

const char AUTOPHI_ABI = 0;
