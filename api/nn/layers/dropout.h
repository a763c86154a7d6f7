// Dropout (Srivastava et al. 2014).
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// In training mode each element of x becomes 0 with probability p, else x / (1 - p). Each call
/// draws a new mask, which is the same on every mesh and is drawn again by recomputation:
///
/// - If the forward context has a number (ForwardContext::number; micro-batches of a Trainer have
/// one), the
///   mask of the first call depends only on that number, the model's seed and this dropout's number
///   in the model.
/// - All other calls draw a seed from the rank's generator (phi::seed).
///
/// Errors: InvalidArgument for p outside [0, 1).
class Dropout final : public Layer {
 public:
  Dropout(Module& parent, const Name& name, double p);
  Tensor forward(const Tensor& x) const override;

 private:
  std::optional<int> seed_of_context() const;
  const double p_;
};

}  // namespace phi::nn
