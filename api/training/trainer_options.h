// How a model is trained, as numbers and choices.
#pragma once

#include <cstdint>
#include <string>

#include "api/capture/program_memory.h"
#include "api/nn/recompute.h"
#include "api/training/learning_rate.h"
#include "api/training/optimizer_config.h"

namespace phi::training {

/// What a trainer does about a loss or a gradient that is not finite. The update is left out in any
/// case: weights that are finite stay so.
enum class OnNonFinite : uint8_t {
  kStop,  // an error that names rank, parameter and operator of first appearance
  kSkip,  // the step is left out and told of, and the next one taken
};

struct TrainerOptions {
  /// False: steps are forward passes alone, and give losses.
  bool trains = true;
  OptimizerConfig optimizer{};
  RateSchedule rate{};
  /// Parts of a batch that go through the model one after the other; their gradients are averaged.
  int64_t micro_batches = 1;
  /// Of the pipeline: gpipe, 1f1b, interleaved, zb_h1, zb_h2.
  std::string schedule = "1f1b";
  nn::Recompute recompute = nn::Recompute::kNone;
  /// The first step is captured as a program, and all steps run that.
  bool capture = false;
  /// On GPUs that program's steps are launched as CUDA graphs (Program::use_graphs).
  bool graphs = true;
  /// Of the captured program; limited memory needs `capture`, and limit_rank() before the model is
  /// laid out.
  ProgramMemory memory{};
  OnNonFinite on_nonfinite = OnNonFinite::kStop;
  /// More steps in a row that are left out end the training: it goes nowhere.
  int64_t max_left_out = 20;
};

}  // namespace phi::training
