// Ops per channel, and bilinear, as factors.
#include "distributed/spmd/rules/channels.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// The names of all dims, of the channel dim, and of the other dims.
struct ChannelFactors {
  ChannelFactors(const TensorSpec& x, bool channels_last) : names(dim_names(x.ndim())) {
    PHI_CHECK(x.ndim() >= 2, errors::InvalidArgument("x is {}; images and channels are needed.",
                                                     x.shape.to_string()));
    const int axis = channels_last ? x.ndim() - 1 : 1;
    channel = names.substr(static_cast<size_t>(axis), 1);
    for (char name : names)
      if (name != channel[0]) others.push_back(name);
  }
  std::string_view names;
  std::string_view channel;
  FactorNames others;
};

}  // namespace

SpmdRule BatchStatisticsInferSpmd(const TensorSpec& x, const TensorSpec& mean,
                                  const TensorSpec& variance, const TensorSpec* scale,
                                  const TensorSpec* bias, const std::string& data_format) {
  const ChannelFactors image(x, data_format.ends_with('C'));
  Factors rule;
  rule.input(x, image.names).input(mean, image.channel).input(variance, image.channel);
  rule.input(scale, image.channel);
  rule.input(bias, image.channel);
  rule.output(image.names);
  for (int i = 0; i < 4; ++i) rule.output(image.channel);
  return rule.combined(image.others);
}

SpmdRule BatchStatisticsGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                      const TensorSpec* bias, const TensorSpec& saved_mean,
                                      const TensorSpec& saved_variance, const TensorSpec& out_grad,
                                      const std::string& data_format) {
  const ChannelFactors image(x, data_format.ends_with('C'));
  Factors rule;
  rule.input(x, image.names);
  rule.input(scale, image.channel);
  rule.input(bias, image.channel);
  rule.input(saved_mean, image.channel).input(saved_variance, image.channel);
  rule.input(out_grad, image.names);
  return rule.output_like(0).output_like(1).output_like(2).combined(image.others);
}

SpmdRule AffineChannelInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                const TensorSpec& bias, const std::string& data_layout) {
  const ChannelFactors image(x, data_layout != "NCHW");
  return Factors()
      .input(x, image.names)
      .input(scale, image.channel)
      .input(bias, image.channel)
      .output(image.names);
}

SpmdRule AffineChannelGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                    const TensorSpec& bias, const TensorSpec& out_grad,
                                    const std::string& data_layout) {
  const ChannelFactors image(x, data_layout != "NCHW");
  Factors rule;
  rule.input(x, image.names).input(scale, image.channel).input(bias, image.channel);
  rule.input(out_grad, image.names);
  return rule.output_like(0).output_like(1).output_like(2);
}

SpmdRule BilinearInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& weight,
                           const TensorSpec* bias) {
  Factors rule;
  rule.input(x, "ni").input(y, "nj").input(weight, "kij");
  rule.input(bias, "1k");
  rule.output("nk");
  return bias ? rule.whole("ij") : rule;
}

SpmdRule BilinearGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& weight,
                               const TensorSpec* bias, const TensorSpec& out_grad) {
  Factors rule;
  rule.input(x, "ni").input(y, "nj").input(weight, "kij");
  rule.input(bias, "1k");
  rule.input(out_grad, "nk");
  rule.output("ni").output("nj").output("kij");
  if (!bias) return rule.absent_output();
  return rule.output("1k").whole("ij");
}

}  // namespace phi::distributed
