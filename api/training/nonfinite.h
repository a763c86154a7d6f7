// Where numbers of a step first ceased to be finite.
#pragma once

#include <string>

#include "api/training/train_step.h"

namespace phi::training {

/// Lines for an error: which parameters hold such numbers before the step, on which rank; else
/// which operator first gives one, on which rank, and which parameters' gradients do not stay
/// finite. The step is run again for that, as it was, without an update and without its program;
/// under memory limits, where it has no room so, parameters alone are looked at.
///
/// `inputs`  as of TrainStep::run(), of the step that failed
/// Ranks     every rank of the job calls it, and gets the same text.
std::string first_nonfinite_of(TrainStep& step, const TensorList& inputs);

}  // namespace phi::training
