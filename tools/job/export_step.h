// A job's step as StableHLO text, its inputs and outputs with the names that people know.
#pragma once

#include <string>

#include "api/capture/program.h"
#include "api/training/train_step.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// `program` is the step, captured. Inputs are called ids0, labels0, ids1, ... for the
/// micro-batches, learning_rate and step (and loss_scale, inverse_loss_scale), and parameters as
/// the model calls them, their states PARAMETER.moment1 and so on; outputs loss and grad_norm, and
/// new values PARAMETER.new.
std::string export_step(const JobConfig& config, const training::TrainStep& step,
                        const Program& program);

/// Inputs of the step without bytes, for a rank that is played.
TensorList placeholder_inputs(const JobConfig& config, const training::TrainStep& step);

}  // namespace phi::job
