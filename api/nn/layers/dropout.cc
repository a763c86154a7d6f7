// Dropout, with seeds derived from the forward context.
#include "api/nn/layers/dropout.h"

#include "api/generated/ops/dropout.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"

namespace phi::nn {
namespace {

constexpr int kDropoutBits = 20;  // an upper limit on the dropouts of a model

double checked_probability(double p) {
  PHI_CHECK(p >= 0.0 && p < 1.0,
            errors::InvalidArgument("dropout of {}; it must be 0 or more and less than 1.", p));
  return p;
}

}  // namespace

Dropout::Dropout(Module& parent, const Name& name, double p)
    : Layer(parent, name), p_(checked_probability(p)) {
  count_dropout(p > 0.0);
}

std::optional<int> Dropout::seed_of_context() const {
  Generator& generator = RankContext::current().generator();
  Recorder* const recorder = RankContext::current().recorder();
  if (recorder && !generator.state().pass) recorder->follows_pass = true;
  const auto number = generator.first_in_pass(this);
  if (!number) return std::nullopt;
  const uint64_t noise = (*number << kDropoutBits) + dropout_number();
  return static_cast<int>(seed_for("dropout", seed() ^ noise << 16) >> 33);
}

Tensor Dropout::forward(const Tensor& x) const {
  if (p_ == 0.0 || !is_training()) return x;
  return dropout(x, std::nullopt, p_, /*is_test=*/false, "upscale_in_train", seed_of_context());
}

}  // namespace phi::nn
