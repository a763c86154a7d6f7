// The API: the Tensor handle and all operators under phi::.
#pragma once

#include "api/generated/api.h"
#include "phi/tensor_api.h"
