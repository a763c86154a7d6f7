// Shape functions, rules and a gradient of my_ops.yaml.
#include "my_functions.h"

#include <phi/api.h>
#include <phi/common/errors.h>

namespace phi {

TensorMeta GroupRmsNormInferMeta(const TensorMeta& x, const TensorMeta& scale, int group_size) {
  PHI_CHECK(x.dims.ndim() > 0 && group_size > 0 && x.dims.back() % group_size == 0,
            errors::InvalidArgument(
                "x is {}; its last dim must be a multiple of group_size, which is {}.",
                x.dims.to_string(), group_size));
  PHI_CHECK(scale.dims == Dims{x.dims.back()},
            errors::InvalidArgument("scale is {}; it must have x's last dim, {}.",
                                    scale.dims.to_string(), x.dims.back()));
  return x;
}

TensorMeta RowEnergyInferMeta(const TensorMeta& x) {
  PHI_CHECK(x.dims.ndim() > 0, errors::InvalidArgument("x is a scalar; it has no rows."));
  TensorMeta out = x;
  out.dims = Dims::filled(x.dims.ndim() - 1, 0);
  for (int d = 0; d < out.dims.ndim(); ++d) out.dims[d] = x.dims[d];
  return out;
}

namespace distributed {
namespace {

// The last dim is h, those before it are the batch.
Factors grouped(const TensorSpec& x, int group_size) {
  Factors rule;
  rule.any_size("h").divides('h', x.shape.back() / group_size);
  return rule;
}

}  // namespace

SpmdRule GroupRmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, int group_size) {
  const auto batch = Factors::batch(x.ndim() - 1);
  return grouped(x, group_size).input(x, batch, "h").input(scale, "h").output(batch, "h");
}

SpmdRule GroupRmsNormGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                   const TensorSpec& out_grad, int group_size) {
  const auto batch = Factors::batch(x.ndim() - 1);
  return grouped(x, group_size)
      .input(x, batch, "h")
      .input(scale, "h")
      .input(out_grad, batch, "h")
      .output(batch, "h")
      .output("h");
}

}  // namespace distributed

Tensor composite::row_energy_grad(const Tensor& x, const Tensor& out_grad) {
  return multiply(scale(x, 2.0f), unsqueeze(out_grad, {-1}));
}

}  // namespace phi
