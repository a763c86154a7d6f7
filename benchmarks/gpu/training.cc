// What a job's trainer does of a step (api/training/trainer.cc), but for reading what it gives.
#include "benchmarks/gpu/training.h"

#include "api/generated/ops/cast.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/randint.h"
#include "api/nn/loss.h"

namespace phi::gpu_bench {
namespace {

constexpr double kRate = 1e-4;

// Initialisers draw on the host, which takes as long for a large model as all else together.
void draw_weights(nn::models::Decoder* model) {
  model->fill([seed = 0](const std::string&, const Tensor& now) mutable {
    if (now.ndim() < 2) return now;
    return cast(gaussian(now.shape(), 0, 0.02, ++seed), now.dtype());
  });
}

}  // namespace

Training::Training(const TrainingSetting& setting, Mode mode)
    : model_(nn::models::make(setting.model)) {
  model_->initialise(1, setting.dtype);
  draw_weights(model_.get());
  step_.emplace(
      *model_, nn::cross_entropy,
      training::TrainerOptions{.optimizer = {.beta2 = 0.95, .weight_decay = 0.1, .grad_clip = 1.0},
                               .micro_batches = setting.micro_batches,
                               .capture = mode == kCaptured});
  const int64_t rows = setting.batch / setting.micro_batches, positions = model_->seq_len();
  const auto vocab = static_cast<int>(model_->vocab());
  for (int64_t i = 0; i < setting.micro_batches; ++i) {
    inputs_.push_back(randint(0, vocab, {rows, positions}));
    inputs_.push_back(randint(0, vocab, {rows, positions, 1}));
  }
  const auto scalars = step_->optimizer()->step_scalars(kRate);
  inputs_.push_back(scalars.learning_rate);
  inputs_.push_back(scalars.step);
  if (mode == kCaptured) {
    program_ = capture([this](const TensorList& in) { return step_->run(in); }, inputs_);
  }
}

void Training::step() { (void)(program_ ? program_->run(inputs_) : step_->run(inputs_)); }

}  // namespace phi::gpu_bench
