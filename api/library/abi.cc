// The symbol whose name says which headers this library was built with (phi/generated/abi.h).
#include "phi/generated/abi.h"

const char AUTOPHI_ABI = 0;
