// Dropout (Srivastava et al. 2014).
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// While the model trains each number of x is 0 with probability p, else x / (1 - p). Which ones
/// follows the model's seed, the number of this dropout in the model and that of the batch
/// (Pass::number) alone: not the mesh, and a pass that is computed again draws the same.
/// Errors: InvalidArgument for a p that is not in [0, 1).
class Dropout final : public Layer {
 public:
  Dropout(Module& parent, const Name& name, double p);
  Tensor forward(const Tensor& x) const override;

 private:
  const double p_;
};

}  // namespace phi::nn
