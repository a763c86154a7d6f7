// Conv2d and its default initialiser.
#include "api/nn/layers/conv.h"

#include <cmath>

#include "api/generated/ops/add.h"
#include "api/generated/ops/conv2d.h"
#include "api/generated/ops/reshape.h"
#include "phi/common/errors.h"

namespace phi::nn {

namespace {

Dims weight_shape(int64_t in, int64_t out, int64_t size, int groups) {
  PHI_CHECK(groups > 0 && in % groups == 0 && out % groups == 0,
            errors::InvalidArgument("{} groups do not divide {} input and {} output channels.",
                                    groups, in, out));
  return {out, in / groups, size, size};
}

Initialiser weights_of(const Conv2dOptions& options, const Dims& shape) {
  if (options.weight) return options.weight;
  return normal(std::sqrt(2.0 / static_cast<double>(shape.numel(1, 4))));
}

}  // namespace

Conv2d::Conv2d(Module& parent, const Name& name, int64_t in, int64_t out, int64_t size,
               const Conv2dOptions& options)
    : Layer(parent, name),
      options_(options),
      weight_(parameter("weight", weight_shape(in, out, size, options.groups),
                        weights_of(options, weight_shape(in, out, size, options.groups)))),
      bias_(options.bias ? &parameter("bias", {out}, constant(0.0)) : nullptr) {}

Tensor Conv2d::forward(const Tensor& x) const {
  const auto& o = options_;
  const Tensor y = apply_placements(ActivationSlot::kOutput,
                                    conv2d(x, weight_, {o.stride, o.stride}, {o.padding, o.padding},
                                           "EXPLICIT", {o.dilation, o.dilation}, o.groups, "NCHW"));
  return bias_ ? add(y, reshape(*bias_, {1, bias_->shape()[0], 1, 1})) : y;
}

}  // namespace phi::nn
