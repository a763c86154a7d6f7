// All operators as functions on Tensor, and their gradients.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include "api/generated/ops/batch_norm.h"
#include "api/generated/ops/bmm.h"
#include "api/generated/ops/check_finite_.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/distribute.h"
#include "api/generated/ops/flatten.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/merged_momentum_.h"
#include "api/generated/ops/momentum_.h"
#include "api/generated/ops/nonzero.h"
#include "api/generated/ops/norm.h"
#include "api/generated/ops/ones.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale_all.h"
#include "api/generated/ops/split.h"
