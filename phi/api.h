// The API: the Tensor handle and all operators under phi::.
#pragma once

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/capture/scan.h"
#include "api/generated/api.h"
#include "api/tensor/deferred.h"
#include "api/tensor/placeholder.h"
#include "api/tensor/tensor.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
