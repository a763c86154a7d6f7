// Exports a job's step as StableHLO text, with readable names for inputs and outputs.
#pragma once

#include <string>

#include "api/capture/program.h"
#include "api/training/train_step.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// `program` is the captured step. Inputs are named ids0 (or images0), labels0, ids1, ...
/// (micro-batches), learning_rate, step (and loss_scale, inverse_loss_scale); parameters have their
/// names in the model and optimizer states PARAMETER.moment1 and so on. Outputs are loss and
/// grad_norm, and new values PARAMETER.new.
std::string export_step(const JobConfig& config, const training::TrainStep& step,
                        const Program& program);

/// Placeholders as inputs of the step, for a dry run.
TensorList placeholder_inputs(const JobConfig& config, const training::TrainStep& step);

}  // namespace phi::job
