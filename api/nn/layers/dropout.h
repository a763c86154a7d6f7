// Dropout (Srivastava et al. 2014).
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// While the model trains each number of x is 0 with probability p, else x / (1 - p). Each call
/// draws a new mask, the same on every mesh, and recomputation draws it again:
/// - In a pass that has a number (Pass::number; a Trainer's micro-batches have) the first call
///   follows that, the model's seed and the number of this dropout in the model alone.
/// - All other calls leave the seed to the rank's generator (phi::seed).
/// Errors: InvalidArgument for a p that is not in [0, 1).
class Dropout final : public Layer {
 public:
  Dropout(Module& parent, const Name& name, double p);
  Tensor forward(const Tensor& x) const override;

 private:
  std::optional<int> seed_of_pass() const;
  const double p_;
};

}  // namespace phi::nn
