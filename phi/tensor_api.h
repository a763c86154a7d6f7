// Public header of phi without the operators. A source that includes the operators it uses one by
// one (api/generated/ops/relu.h) is not recompiled when another operator changes. phi/api.h
// includes everything.
#pragma once

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/capture/scan.h"
#include "api/tensor/deferred.h"
#include "api/tensor/from_vector.h"
#include "api/tensor/indexing.h"
#include "api/tensor/operators.h"
#include "api/tensor/placeholder.h"
#include "api/tensor/print.h"
#include "api/tensor/random_seed.h"
#include "api/tensor/tensor.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
