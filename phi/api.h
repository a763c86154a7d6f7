// The API: the Tensor handle and all operators under phi::.
#pragma once

#include "phi/api/autograd.h"
#include "phi/api/capture/program.h"
#include "phi/api/capture/scan.h"
#include "phi/api/deferred.h"
#include "phi/api/placeholder.h"
#include "phi/api/tensor.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/generated/api.h"
