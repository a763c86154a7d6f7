// Normalisations of images as factors: n images, c channels; spatial dims are whole.
#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/rules/norm.h"

namespace phi::distributed {
namespace {

// `n` and `c` are the factor names of images and channels; '_' if they must be whole.
FactorNames norm_image_names(const TensorSpec& x, char n, char c, const std::string& data_format) {
  PHI_CHECK(x.ndim() >= 2, errors::InvalidArgument("x is {}; images and channels are needed.",
                                                   x.shape.to_string()));
  FactorNames names;
  for (int d = 0; d < x.ndim(); ++d) names.push_back('_');
  const bool last = !data_format.empty() && data_format.back() == 'C';
  names[0] = n;
  names[last ? x.ndim() - 1 : 1] = c;
  return names;
}

}  // namespace

SpmdRule BatchNormInferSpmd(const TensorSpec& x, const TensorSpec& mean, const TensorSpec& variance,
                            const TensorSpec* scale, const TensorSpec* bias, bool, float, float,
                            const std::string& data_format, bool, bool) {
  const FactorNames names = norm_image_names(x, '_', 'c', data_format);
  Factors rule;
  rule.input(x, names).input(mean, "c").input(variance, "c");
  rule.input(scale, "c");
  rule.input(bias, "c");
  rule.output(names).output("c").output("c").output("c").output("c").output("_");
  return rule.combined("c");  // reserve_space is private to each rank
}

SpmdRule GroupNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float, int, const std::string& data_format) {
  const FactorNames names = norm_image_names(x, 'n', '_', data_format);
  Factors rule;
  rule.input(x, names);
  rule.input(scale, "_");
  rule.input(bias, "_");
  return rule.output(names).output("n_").output("n_");
}

SpmdRule GroupNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                const TensorSpec* bias, const TensorSpec& y, const TensorSpec& mean,
                                const TensorSpec& variance, const TensorSpec& y_grad, float, int,
                                const std::string& data_format) {
  const FactorNames names = norm_image_names(x, 'n', '_', data_format);
  Factors rule;
  rule.input(x, names);
  rule.input(scale, "_");
  rule.input(bias, "_");
  rule.input(y, names).input(mean, "n_").input(variance, "n_").input(y_grad, names);
  return rule.output_like(0).output_like(1).output_like(2);
}

SpmdRule InstanceNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                               float) {
  const FactorNames names = norm_image_names(x, 'n', 'c', "NCHW");
  Factors rule;
  rule.input(x, names);
  rule.input(scale, "c");
  rule.input(bias, "c");
  return rule.output(names).output("nc").output("nc");
}

SpmdRule InstanceNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                   const TensorSpec* bias, const TensorSpec& saved_mean,
                                   const TensorSpec& saved_variance, const TensorSpec& y_grad,
                                   float) {
  const FactorNames names = norm_image_names(x, 'n', 'c', "NCHW");
  Factors rule;
  rule.input(x, names);
  rule.input(scale, "c");
  rule.input(bias, "c");
  rule.input(saved_mean, "nc").input(saved_variance, "nc").input(y_grad, names);
  return rule.output_like(0).output_like(1).output_like(2);
}

}  // namespace phi::distributed
