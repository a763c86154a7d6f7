// Finds the origin of values that are not finite in a training step.
#pragma once

#include <string>

#include "api/training/train_step.h"

namespace phi::training {

/// Returns lines for an error message. If parameters have non-finite values before the step: which
/// ones, on which rank. Otherwise: which operator first produces one, on which rank, and which
/// parameters' gradients are not finite. To find out, it repeats the step without its captured
/// program and without an update. Under memory limits, which leave no room for this, only
/// parameters are checked.
///
/// Shapes   `inputs` are the inputs of TrainStep::run() for the step that failed.
/// Ranks    Every rank of the job calls it; all return the same text.
std::string first_nonfinite_of(TrainStep& step, const TensorList& inputs);

}  // namespace phi::training
