// Convolutions as factors: n images, c channels of the input, m of the output.
#include "distributed/spmd/rules/conv.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

struct Convolution {
  int spatial;  // number of spatial dims
  bool channels_last;
  char c;  // '_' if channels must be whole
  char m;
  bool transposed;

  FactorNames image(char channels) const {
    FactorNames names("n");
    if (!channels_last) names.push_back(channels);
    for (int d = 0; d < spatial; ++d) names.push_back('_');
    if (channels_last) names.push_back(channels);
    return names;
  }
  FactorNames filter() const {
    FactorNames names;
    names.push_back(transposed ? c : m);
    names.push_back(transposed ? m : c);
    for (int d = 0; d < spatial; ++d) names.push_back('_');
    return names;
  }
};

Convolution convolution(const TensorSpec& input, const TensorSpec& filter, int spatial, int groups,
                        const std::string& data_format, bool transposed = false) {
  PHI_CHECK(
      input.ndim() == spatial + 2 && filter.ndim() == spatial + 2,
      errors::InvalidArgument("input {} and filter {} must have {} dims.", input.shape.to_string(),
                              filter.shape.to_string(), spatial + 2));
  const bool last = !data_format.empty() && data_format.back() == 'C';
  return {spatial, last, groups == 1 ? 'c' : '_', groups == 1 ? 'm' : '_', transposed};
}

SpmdRule forward(const Convolution& conv, const TensorSpec& input, const TensorSpec& filter) {
  return Factors()
      .input(input, conv.image(conv.c))
      .input(filter, conv.filter())
      .output(conv.image(conv.m));
}

SpmdRule conv_gradient(const Convolution& conv, const TensorSpec& input, const TensorSpec& filter,
                       const TensorSpec& out_grad) {
  Factors rule;
  rule.input(input, conv.image(conv.c)).input(filter, conv.filter());
  rule.input(out_grad, conv.image(conv.m)).output_like(0).output_like(1);
  // As in matmul: images stay split and the weight is gathered.
  return rule.prefer_majority().yields("cm");
}

// The inputs of a deformable convolution. `splits`: its channels may be split.
Factors deformable(const TensorSpec& x, const TensorSpec& offset, const TensorSpec& filter,
                   const TensorSpec* mask, bool splits) {
  Factors rule;
  rule.input(x, splits ? "nc__" : "n___").input(offset, "n___");
  rule.input(filter, splits ? "mc__" : "____");
  return mask == nullptr ? rule.absent_input() : rule.input(*mask, "n___");
}

Factors regions(const TensorSpec& x, const TensorSpec& boxes, const TensorSpec* boxes_num) {
  Factors rule;
  rule.input(x, "_c__").input(boxes, "__");
  return boxes_num == nullptr ? rule.absent_input() : rule.input(*boxes_num, "_");
}

}  // namespace

SpmdRule Conv2dInferSpmd(const TensorSpec& input, const TensorSpec& filter, const std::vector<int>&,
                         const std::vector<int>&, const std::string&, const std::vector<int>&,
                         int groups, const std::string& data_format) {
  return forward(convolution(input, filter, 2, groups, data_format), input, filter);
}

SpmdRule Conv3dInferSpmd(const TensorSpec& input, const TensorSpec& filter, const std::vector<int>&,
                         const std::vector<int>&, const std::string&, int groups,
                         const std::vector<int>&, const std::string& data_format) {
  return forward(convolution(input, filter, 3, groups, data_format), input, filter);
}

SpmdRule DepthwiseConv2dInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>&, const std::vector<int>&,
                                  const std::string&, int, const std::vector<int>&,
                                  const std::string& data_format) {
  return forward(convolution(input, filter, 2, 0, data_format), input, filter);
}

SpmdRule Conv2dTransposeInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>&, const std::vector<int>&,
                                  const std::vector<int>&, const IntArray&, const std::string&,
                                  int groups, const std::vector<int>&,
                                  const std::string& data_format) {
  return forward(convolution(input, filter, 2, groups, data_format, true), input, filter);
}

SpmdRule Conv3dTransposeInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>&, const std::vector<int>&,
                                  const std::vector<int>&, const std::vector<int>&,
                                  const std::string&, int groups, const std::vector<int>&,
                                  const std::string& data_format) {
  return forward(convolution(input, filter, 3, groups, data_format, true), input, filter);
}

SpmdRule DeformableConvInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                 const TensorSpec& filter, const TensorSpec* mask,
                                 const std::vector<int>&, const std::vector<int>&,
                                 const std::vector<int>&, int deformable_groups, int groups, int) {
  const bool splits = deformable_groups == 1 && groups == 1;
  return deformable(x, offset, filter, mask, splits).output(splits ? "nm__" : "n___");
}

SpmdRule Conv2dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                             const TensorSpec& out_grad, const std::vector<int>&,
                             const std::vector<int>&, const std::string&, const std::vector<int>&,
                             int groups, const std::string& data_format) {
  return conv_gradient(convolution(input, filter, 2, groups, data_format), input, filter, out_grad);
}

SpmdRule Conv3dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                             const TensorSpec& out_grad, const std::vector<int>&,
                             const std::vector<int>&, const std::string&, int groups,
                             const std::vector<int>&, const std::string& data_format) {
  return conv_gradient(convolution(input, filter, 3, groups, data_format), input, filter, out_grad);
}

SpmdRule DepthwiseConv2dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>&,
                                      const std::vector<int>&, const std::string&, int,
                                      const std::vector<int>&, const std::string& data_format) {
  return conv_gradient(convolution(input, filter, 2, 0, data_format), input, filter, out_grad);
}

SpmdRule Conv2dTransposeGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>&,
                                      const std::vector<int>&, const std::vector<int>&,
                                      const IntArray&, const std::string&, int groups,
                                      const std::vector<int>&, const std::string& data_format) {
  return conv_gradient(convolution(input, filter, 2, groups, data_format, true), input, filter,
                       out_grad);
}

SpmdRule Conv3dTransposeGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>&,
                                      const std::vector<int>&, const std::vector<int>&,
                                      const std::vector<int>&, const std::string&, int groups,
                                      const std::vector<int>&, const std::string& data_format) {
  return conv_gradient(convolution(input, filter, 3, groups, data_format, true), input, filter,
                       out_grad);
}

SpmdRule DeformableConvGradInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                     const TensorSpec& filter, const TensorSpec* mask,
                                     const TensorSpec& out_grad, int deformable_groups,
                                     int groups) {
  const bool splits = deformable_groups == 1 && groups == 1;
  Factors rule = deformable(x, offset, filter, mask, splits);
  rule.input(out_grad, splits ? "nm__" : "n___");
  return rule.output_like(0).output_like(1).output_like(2).output_like(3);
}

SpmdRule RoiAlignInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                           const TensorSpec* boxes_num, int, int, float, int, bool) {
  return regions(x, boxes, boxes_num).output("_c__");
}

SpmdRule RoiAlignGradInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                               const TensorSpec* boxes_num, const TensorSpec& out_grad, int, int,
                               float, int, bool) {
  return regions(x, boxes, boxes_num).input(out_grad, "_c__").output_like(0);
}

}  // namespace phi::distributed
