// Binds optimizers, training, data, generation, checkpoints, captured programs, explanations and
// dry worlds.
#pragma once

#include <nanobind/nanobind.h>

#include "api/training/learning_rate.h"
#include "api/training/optimizer_config.h"
#include "api/training/train_step.h"

namespace phi::python {

/// The loss function of a Trainer: calls `function` with output and labels. Errors: TypeError if it
/// does not return a tensor.
training::LossFunction loss_from(nanobind::callable function);

void bind_optimizers(nanobind::module_& optim);
void bind_training(nanobind::module_& training);
void bind_checkpoints(nanobind::module_& checkpoint);
void bind_data(nanobind::module_& data);
void bind_generation(nanobind::module_& generation);
void bind_capture(nanobind::module_& capture);
void bind_explanations(nanobind::module_& explain);
void bind_predictions(nanobind::module_& module);
void bind_dry_worlds(nanobind::module_& dry);

}  // namespace phi::python
