// Shapes of convolutions over two or three spatial dims.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/windowed.h"

namespace phi {

/// [n, m, positions...] for input [n, c, spatial...] (or channels last) and filter
/// [m, c / groups, spatial...]. Errors: InvalidArgument for incompatible shapes, groups or dtypes,
/// and for a window that fits at no position.
TensorMeta ConvInferMeta(const TensorMeta& input, const TensorMeta& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, const std::vector<int>& dilations,
                         int groups, const std::string& data_format);

/// The image [n, m, ...] for x [n, c, spatial...] and filter [c, m / groups, spatial...]. Its
/// extents are those whose convolution has x's extents: the smallest ones plus output_padding, or
/// `output_size`. Errors: those of ConvInferMeta; InvalidArgument for an output_size whose
/// convolution has other extents.
TensorMeta ConvTransposeInferMeta(const TensorMeta& x, const TensorMeta& filter,
                                  const std::vector<int>& strides, const std::vector<int>& paddings,
                                  const std::vector<int>& output_padding,
                                  const IntArray& output_size, const std::string& padding_algorithm,
                                  int groups, const std::vector<int>& dilations,
                                  const std::string& data_format);
TensorMeta Conv3dTransposeInferMeta(
    const TensorMeta& x, const TensorMeta& filter, const std::vector<int>& strides,
    const std::vector<int>& paddings, const std::vector<int>& output_padding,
    const std::vector<int>& output_size, const std::string& padding_algorithm, int groups,
    const std::vector<int>& dilations, const std::string& data_format);

/// [n, m, oh, ow] for x [n, c, h, w] and filter [m, c / groups, kh, kw]. offset
/// [n, 2 * deformable_groups * kh * kw, oh, ow] shifts the filter taps and mask
/// [n, deformable_groups * kh * kw, oh, ow] weights them. Errors: those of ConvInferMeta.
TensorMeta DeformableConvInferMeta(const TensorMeta& x, const TensorMeta& offset,
                                   const TensorMeta& filter, const TensorMeta* mask,
                                   const std::vector<int>& strides,
                                   const std::vector<int>& paddings,
                                   const std::vector<int>& dilations, int deformable_groups,
                                   int groups, int im2col_step);
/// The metas of x, offset, filter and, if it is present, mask.
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>
DeformableConvGradInferMeta(const TensorMeta& x, const TensorMeta& offset, const TensorMeta& filter,
                            const TensorMeta* mask);

}  // namespace phi
