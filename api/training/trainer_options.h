// Options of a Trainer.
#pragma once

#include <cstdint>
#include <string>

#include "api/capture/program_memory.h"
#include "api/nn/recompute.h"
#include "api/training/learning_rate.h"
#include "api/training/optimizer_config.h"

namespace phi::training {

/// The reaction of a trainer to a loss or a gradient that is not finite. In both cases the update
/// is skipped, so finite weights stay finite.
enum class OnNonFinite : uint8_t {
  kStop,  // throws an error that names rank, parameter and operator of first appearance
  kSkip,  // logs the skipped step and continues with the next
};

struct TrainerOptions {
  /// False: steps run the forward pass alone and return losses.
  bool trains = true;
  OptimizerConfig optimizer{};
  LearningRateSchedule rate{};
  /// Number of parts of a batch, which run one after the other; their gradients are averaged.
  int64_t micro_batches = 1;
  /// Pipeline schedule: gpipe, 1f1b, interleaved, zb_h1, zb_h2.
  std::string schedule = "1f1b";
  nn::Recompute recompute = nn::Recompute::kNone;
  /// The first step is captured as a program, which all steps run.
  bool capture = false;
  /// In steps that are not captured, actions of other stages run for one micro-batch only
  /// (run_schedule). For dry runs.
  bool repeats_idle = false;
  /// On GPUs, the program's steps are launched as CUDA graphs (Program::use_graphs).
  bool graphs = true;
  /// Memory limits of the captured program. They need `capture`, and a call of limit_rank() before
  /// the model is sharded.
  ProgramMemory memory{};
  OnNonFinite on_nonfinite = OnNonFinite::kStop;
  /// If more steps in a row are skipped, training stops with an error.
  int64_t max_left_out = 20;
};

}  // namespace phi::training
