// The API: the Tensor handle and all operators under phi::.
#pragma once

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/capture/scan.h"
#include "api/generated/api.h"
#include "api/tensor/deferred.h"
#include "api/tensor/from_vector.h"
#include "api/tensor/indexing.h"
#include "api/tensor/operators.h"
#include "api/tensor/placeholder.h"
#include "api/tensor/print.h"
#include "api/tensor/tensor.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
