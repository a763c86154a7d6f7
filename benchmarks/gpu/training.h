// A model and steps of its training, called or captured: what rows of whole steps time.
#pragma once

#include <memory>
#include <optional>

#include "api/capture/program.h"
#include "api/nn/models/decoder.h"
#include "api/training/train_step.h"

namespace phi::gpu_bench {

struct TrainingSetting {
  nn::models::ModelConfig model;
  DataType dtype = DataType::FLOAT32;
  int64_t batch = 1;
  int64_t micro_batches = 1;
};

/// Trains on one batch of drawn tokens, again and again, as a job does: AdamW and clipping. Its
/// parameters are drawn by the GPU.
class Training {
 public:
  enum Mode { kCalled, kCaptured };
  Training(const TrainingSetting& setting, Mode mode);

  /// Queues a step.
  void step();

 private:
  std::unique_ptr<nn::models::Decoder> model_;
  std::optional<training::TrainStep> step_;
  TensorList inputs_;
  std::optional<Program> program_;
};

}  // namespace phi::gpu_bench
