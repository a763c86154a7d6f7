// Rules of ops that turn, shift, repeat, cut and pad, of diagonals, of lists that are joined or
// taken apart, and of ops that tell of shapes. Those that only copy pass partial values on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// Dims that are turned must be whole.
SpmdRule FlipInferSpmd(const TensorSpec& x, const std::vector<int>& axis);
SpmdRule ReverseInferSpmd(const TensorSpec& x, const IntArray& axis);
/// The axis must be whole.
SpmdRule RepeatInterleaveInferSpmd(const TensorSpec& x, int axis);
/// Dims that are cut must be whole.
SpmdRule CropInferSpmd(const TensorSpec& x, const IntArray& shape, const IntArray& offsets);
/// Dims that are padded must be whole.
SpmdRule Pad3dInferSpmd(const TensorSpec& x, const IntArray& paddings, const std::string& mode,
                        double pad_value, const std::string& data_format);
SpmdRule Pad3dGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                            const IntArray& paddings, const std::string& data_format);
/// The axis must be whole, and the windows are.
SpmdRule TensorUnfoldInferSpmd(const TensorSpec& input, int64_t axis);
SpmdRule TensorUnfoldGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                                   int64_t axis);
/// The last dim, whose bits may be joined or taken apart, must be whole.
SpmdRule ViewDtypeInferSpmd(const TensorSpec& input);
/// Rows must be whole.
SpmdRule ViewSliceInferSpmd(const TensorSpec& input);

/// The two dims of the diagonal must be whole.
SpmdRule DiagonalInferSpmd(const TensorSpec& x, int axis1, int axis2);
SpmdRule DiagonalGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1,
                               int axis2);
/// The last dim must be whole, and dim1 and dim2 of the output are.
SpmdRule DiagEmbedInferSpmd(const TensorSpec& input, int dim1, int dim2);
/// y lies as the diagonals of x do.
SpmdRule FillDiagonalTensorInferSpmd(const TensorSpec& x, const TensorSpec& y, int dim1, int dim2);

/// As elementwise: dims of size 1 are not split where they stretch.
SpmdRule BroadcastTensorsInferSpmd(std::span<const TensorSpec> input);
/// Dim i of every output lies as the only one of inputs[i].
SpmdRule MeshgridInferSpmd(std::span<const TensorSpec> inputs);
/// Rows lie alike in all inputs and in index.
SpmdRule MultiplexInferSpmd(std::span<const TensorSpec> inputs, const TensorSpec& index);
/// Columns, of which some are taken, must be whole.
SpmdRule PartialColumnsInferSpmd(std::span<const TensorSpec> x);

/// Channels must be whole.
SpmdRule ChannelShuffleInferSpmd(const TensorSpec& x, const std::string& data_format);
/// Channels are split where each part has whole squares of pixels; height and width are whole.
SpmdRule PixelShuffleInferSpmd(const TensorSpec& x, int upscale_factor,
                               const std::string& data_format);
SpmdRule PixelUnshuffleInferSpmd(const TensorSpec& x, int downscale_factor,
                                 const std::string& data_format);
/// The first dim is split between segments only.
SpmdRule TemporalShiftInferSpmd(const TensorSpec& x, int seg_num);

/// What is told of a global shape is whole, however x lies.
SpmdRule ShapeInferSpmd(const TensorSpec& input);
SpmdRule NumelInferSpmd(const TensorSpec& x);
/// The dim that takes the extent of input's lies as that does.
SpmdRule FullBatchSizeLikeInferSpmd(const TensorSpec& input, const std::vector<int>& shape,
                                    int input_dim_idx, int output_dim_idx);

}  // namespace phi::distributed
