// Sharding rules of convolutions and of region pooling.
//
// Spatial dims of the image and of the filter must be whole, because a window reaches into the
// neighbour's part. data_format is NC... or N...C, for input and output.
#pragma once

#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// input [n, c, ...], filter [m, c / groups, ...] -> output [n, m, ...]. Splitting c makes the
/// output Partial(sum). With groups both channel dims must be whole.
SpmdRule Conv2dInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, const std::vector<int>& dilations,
                         int groups, const std::string& data_format);
SpmdRule Conv3dInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, int groups,
                         const std::vector<int>& dilations, const std::string& data_format);
/// The channels must be whole.
SpmdRule DepthwiseConv2dInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>& strides, const std::vector<int>& paddings,
                                  const std::string& padding_algorithm, int groups,
                                  const std::vector<int>& dilations,
                                  const std::string& data_format);
/// filter is [c, m / groups, ...].
SpmdRule Conv2dTransposeInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>& strides, const std::vector<int>& paddings,
                                  const std::vector<int>& output_padding,
                                  const IntArray& output_size, const std::string& padding_algorithm,
                                  int groups, const std::vector<int>& dilations,
                                  const std::string& data_format);
SpmdRule Conv3dTransposeInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                  const std::vector<int>& strides, const std::vector<int>& paddings,
                                  const std::vector<int>& output_padding,
                                  const std::vector<int>& output_size,
                                  const std::string& padding_algorithm, int groups,
                                  const std::vector<int>& dilations,
                                  const std::string& data_format);
/// With groups of either kind (groups, deformable_groups) the channels must be whole.
SpmdRule DeformableConvInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                 const TensorSpec& filter, const TensorSpec* mask,
                                 const std::vector<int>& strides, const std::vector<int>& paddings,
                                 const std::vector<int>& dilations, int deformable_groups,
                                 int groups, int im2col_step);

/// The gradient of input is Partial(sum) where m is split, that of filter where n is split.
SpmdRule Conv2dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                             const TensorSpec& out_grad, const std::vector<int>& strides,
                             const std::vector<int>& paddings, const std::string& padding_algorithm,
                             const std::vector<int>& dilations, int groups,
                             const std::string& data_format);
SpmdRule Conv3dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                             const TensorSpec& out_grad, const std::vector<int>& strides,
                             const std::vector<int>& paddings, const std::string& padding_algorithm,
                             int groups, const std::vector<int>& dilations,
                             const std::string& data_format);
SpmdRule DepthwiseConv2dGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>& strides,
                                      const std::vector<int>& paddings,
                                      const std::string& padding_algorithm, int groups,
                                      const std::vector<int>& dilations,
                                      const std::string& data_format);
SpmdRule Conv2dTransposeGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>& strides,
                                      const std::vector<int>& paddings,
                                      const std::vector<int>& output_padding,
                                      const IntArray& output_size,
                                      const std::string& padding_algorithm, int groups,
                                      const std::vector<int>& dilations,
                                      const std::string& data_format);
SpmdRule Conv3dTransposeGradInferSpmd(const TensorSpec& input, const TensorSpec& filter,
                                      const TensorSpec& out_grad, const std::vector<int>& strides,
                                      const std::vector<int>& paddings,
                                      const std::vector<int>& output_padding,
                                      const std::vector<int>& output_size,
                                      const std::string& padding_algorithm, int groups,
                                      const std::vector<int>& dilations,
                                      const std::string& data_format);
/// The gradients of offset and mask are Partial(sum) where any channels are split.
SpmdRule DeformableConvGradInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                     const TensorSpec& filter, const TensorSpec* mask,
                                     const TensorSpec& out_grad, int deformable_groups, int groups);

/// A box may refer to any image, so x [n, c, h, w] may be split along its channels only.
SpmdRule RoiAlignInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                           const TensorSpec* boxes_num, int pooled_height, int pooled_width,
                           float spatial_scale, int sampling_ratio, bool aligned);
SpmdRule RoiAlignGradInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                               const TensorSpec* boxes_num, const TensorSpec& out_grad,
                               int pooled_height, int pooled_width, float spatial_scale,
                               int sampling_ratio, bool aligned);

}  // namespace phi::distributed
