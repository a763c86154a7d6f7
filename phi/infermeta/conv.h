// Shapes of convolutions, over two or three spatial dims alike.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/window.h"

namespace phi {

/// input [n, c, spatial...] (or channels last) with filter [m, c / groups, spatial...] gives
/// [n, m, positions...]. Errors: InvalidArgument for shapes, groups, dtypes that do not fit, and
/// for windows that fit nowhere.
TensorMeta ConvInferMeta(const TensorMeta& input, const TensorMeta& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, const std::vector<int>& dilations,
                         int groups, const std::string& data_format);

/// x [n, c, spatial...] with filter [c, m / groups, spatial...] gives the image [n, m, ...] whose
/// convolution has x's extents: the smallest one, plus output_padding, or that of `output_size`.
/// Errors: as above, and for an output_size whose convolution has others.
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

/// x [n, c, h, w] and filter [m, c / groups, kh, kw], whose taps lie where offset
/// [n, 2 * deformable_groups * kh * kw, oh, ow] says and are weighted by mask
/// [n, deformable_groups * kh * kw, oh, ow], give [n, m, oh, ow]. Errors: as above.
TensorMeta DeformableConvInferMeta(const TensorMeta& x, const TensorMeta& offset,
                                   const TensorMeta& filter, const TensorMeta* mask,
                                   const std::vector<int>& strides,
                                   const std::vector<int>& paddings,
                                   const std::vector<int>& dilations, int deformable_groups,
                                   int groups, int im2col_step);
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>
DeformableConvGradInferMeta(const TensorMeta& x, const TensorMeta& offset, const TensorMeta& filter,
                            const TensorMeta* mask);

}  // namespace phi
