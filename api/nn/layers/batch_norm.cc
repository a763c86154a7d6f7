// Normalisation of images over the batch.
#include "api/nn/layers/batch_norm.h"

#include "api/generated/ops/batch_norm.h"
#include "api/generated/ops/full.h"

namespace phi::nn {

BatchNorm2d::BatchNorm2d(Module& parent, const Name& name, int64_t c,
                         const BatchNormOptions& options)
    : Layer(parent, name),
      options_(options),
      scale_(parameter("scale", {c}, constant(1.0))),
      shift_(parameter("shift", {c}, constant(0.0))),
      mean_(buffer("running_mean", full({c}, 0.0f))),
      variance_(buffer("running_variance", full({c}, 1.0f))) {}

Tensor BatchNorm2d::forward(const Tensor& x) const {
  // These handles share the buffers' bytes: the operator updates the running statistics in place.
  Tensor mean = mean_;
  Tensor variance = variance_;
  const auto result =
      batch_norm_(x, mean, variance, scale_, shift_, /*is_test=*/!is_training(),
                  static_cast<float>(options_.momentum), static_cast<float>(options_.epsilon),
                  "NCHW", /*use_global_stats=*/false, /*trainable_statistics=*/false);
  return std::get<0>(result);
}

}  // namespace phi::nn
