// Dropout whose numbers follow names and counts.
#include "api/nn/layers/dropout.h"

#include "api/generated/ops/dropout.h"
#include "phi/common/errors.h"

namespace phi::nn {
namespace {

constexpr int kDropoutBits = 20;  // more dropouts than any model has

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

Tensor Dropout::forward(const Tensor& x) const {
  if (p_ == 0.0 || !is_training()) return x;
  const uint64_t noise = (pass().number << kDropoutBits) + dropout_number();
  const uint64_t drawn = seed_for("dropout", seed() ^ noise << 16);
  return dropout(x, std::nullopt, p_, /*is_test=*/false, "upscale_in_train",
                 static_cast<int>(drawn >> 33), /*fix_seed=*/true);
}

}  // namespace phi::nn
