// Public header of phi: the Tensor handle and all operators, in namespace phi.
#pragma once

#include "api/generated/api.h"
#include "phi/tensor_api.h"
