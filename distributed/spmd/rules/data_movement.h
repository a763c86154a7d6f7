// Sharding rules of ops that flip, repeat, crop and pad, of diagonals, of ops on lists, and of ops
// that return shapes. Rules of ops that only copy pass partial values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// Flipped dims must be whole.
SpmdRule FlipInferSpmd(const TensorSpec& x, const std::vector<int>& axis);
SpmdRule ReverseInferSpmd(const TensorSpec& x, const IntArray& axis);
/// The axis must be whole.
SpmdRule RepeatInterleaveInferSpmd(const TensorSpec& x, int axis);
/// Cropped dims must be whole.
SpmdRule CropInferSpmd(const TensorSpec& x, const IntArray& shape, const IntArray& offsets);
/// Padded dims must be whole.
SpmdRule Pad3dInferSpmd(const TensorSpec& x, const IntArray& paddings, const std::string& mode,
                        double pad_value, const std::string& data_format);
SpmdRule Pad3dGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                            const IntArray& paddings, const std::string& data_format);
/// The axis must be whole, and the windows of the output are.
SpmdRule TensorUnfoldInferSpmd(const TensorSpec& input, int64_t axis);
SpmdRule TensorUnfoldGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                                   int64_t axis);
/// The last dim must be whole: the bits of its elements may be merged or divided.
SpmdRule ViewDtypeInferSpmd(const TensorSpec& input);
/// Rows must be whole.
SpmdRule ViewSliceInferSpmd(const TensorSpec& input);

/// The two dims of the diagonal must be whole.
SpmdRule DiagonalInferSpmd(const TensorSpec& x, int axis1, int axis2);
SpmdRule DiagonalGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1,
                               int axis2);
/// The last dim must be whole, and dim1 and dim2 of the output are whole.
SpmdRule DiagEmbedInferSpmd(const TensorSpec& input, int dim1, int dim2);
/// y is sharded like the diagonals of x.
SpmdRule FillDiagonalTensorInferSpmd(const TensorSpec& x, const TensorSpec& y, int dim1, int dim2);

/// The same as elementwise rules: dims of size 1 that are expanded are not split.
SpmdRule BroadcastTensorsInferSpmd(std::span<const TensorSpec> input);
/// Dim i of every output is sharded like the only dim of inputs[i].
SpmdRule MeshgridInferSpmd(std::span<const TensorSpec> inputs);
/// Rows are sharded alike in all inputs and in index.
SpmdRule MultiplexInferSpmd(std::span<const TensorSpec> inputs, const TensorSpec& index);
/// Columns must be whole, because the op selects some of them.
SpmdRule PartialColumnsInferSpmd(std::span<const TensorSpec> x);

/// Channels must be whole.
SpmdRule ChannelShuffleInferSpmd(const TensorSpec& x, const std::string& data_format);
/// Channels may be split into parts of whole pixel squares; height and width are whole.
SpmdRule PixelShuffleInferSpmd(const TensorSpec& x, int upscale_factor,
                               const std::string& data_format);
SpmdRule PixelUnshuffleInferSpmd(const TensorSpec& x, int downscale_factor,
                                 const std::string& data_format);
/// The first dim is split only between segments.
SpmdRule TemporalShiftInferSpmd(const TensorSpec& x, int seg_num);

/// The result depends on the global shape only, so it is whole for any sharding of x.
SpmdRule ShapeInferSpmd(const TensorSpec& input);
SpmdRule NumelInferSpmd(const TensorSpec& x);
/// The output dim with the extent of an input dim is sharded like that dim.
SpmdRule FullBatchSizeLikeInferSpmd(const TensorSpec& input, const std::vector<int>& shape,
                                    int input_dim_idx, int output_dim_idx);

}  // namespace phi::distributed
