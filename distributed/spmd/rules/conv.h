// Rules of convolutions and of other ops on images.
//
// The image's and the kernel's spatial dims must be whole: a window reaches into the neighbour's
// part. data_format says where input and output have their channels: NC... or N...C.
#pragma once

#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// input [n, c, ...], filter [m, c / groups, ...] -> output [n, m, ...]. A split c makes output
/// Partial(sum). With groups both channel dims must be whole.
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
/// With groups of either kind the channels must be whole.
SpmdRule DeformableConvInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                 const TensorSpec& filter, const TensorSpec* mask,
                                 const std::vector<int>& strides, const std::vector<int>& paddings,
                                 const std::vector<int>& dilations, int deformable_groups,
                                 int groups, int im2col_step);

/// Gradients of input, Partial(sum) where m is split, and of filter, Partial(sum) where n is.
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
/// Those of offset and mask are Partial(sum) where any channels are split.
SpmdRule DeformableConvGradInferSpmd(const TensorSpec& x, const TensorSpec& offset,
                                     const TensorSpec& filter, const TensorSpec* mask,
                                     const TensorSpec& out_grad, int deformable_groups, int groups);

/// Boxes of any image: x [n, c, h, w] may be split by channels alone.
SpmdRule RoiAlignInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                           const TensorSpec* boxes_num, int pooled_height, int pooled_width,
                           float spatial_scale, int sampling_ratio, bool aligned);
SpmdRule RoiAlignGradInferSpmd(const TensorSpec& x, const TensorSpec& boxes,
                               const TensorSpec* boxes_num, const TensorSpec& out_grad,
                               int pooled_height, int pooled_width, float spatial_scale,
                               int sampling_ratio, bool aligned);

}  // namespace phi::distributed
