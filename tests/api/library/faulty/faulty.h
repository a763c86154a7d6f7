// A rule of faulty.yaml.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {
/// Answers for two outputs of an op that has one.
SpmdRule TwoOutputsInferSpmd(const TensorSpec& x);
}  // namespace phi::distributed
