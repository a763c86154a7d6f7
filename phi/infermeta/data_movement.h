// Shapes of ops that flip, shift, repeat, crop and pad, and of views.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Returns x's meta. Errors: OutOfRange for an axis outside x; for flip also InvalidArgument for a
/// repeated axis.
TensorMeta FlipInferMeta(const TensorMeta& x, const std::vector<int>& axis);
TensorMeta ReverseInferMeta(const TensorMeta& x, const IntArray& axis);

/// One shift per axis. Without axes, all of x is shifted in row-major order.
TensorMeta RollInferMeta(const TensorMeta& x, const IntArray& shifts,
                         const std::vector<int64_t>& axis);

/// x and repeat_times are aligned at the last entry; missing entries are 1.
TensorMeta TileInferMeta(const TensorMeta& x, const IntArray& repeat_times);

/// An output_size other than -1 must equal the resulting extent.
TensorMeta RepeatInterleaveInferMeta(const TensorMeta& x, int repeats, int axis,
                                     int64_t output_size);
/// The extent of `axis` is output_size, or is unknown until the kernel reads repeats.
TensorMeta RepeatInterleaveWithTensorIndexInferMeta(const TensorMeta& x, const TensorMeta& repeats,
                                                    int axis, int64_t output_size);

/// `shape` elements of each tensor dim, from `offsets` on; -1 extends to the end.
TensorMeta CropInferMeta(const TensorMeta& x, const IntArray& shape, const IntArray& offsets);

/// paddings has two entries per tensor dim, before and after. Errors: InvalidArgument for another
/// number of entries or a negative one.
TensorMeta PadInferMeta(const TensorMeta& x, const std::vector<int>& paddings,
                        const Scalar& pad_value);

/// Negative paddings crop. The modes are constant, reflect, replicate and circular.
TensorMeta Pad3dInferMeta(const TensorMeta& x, const IntArray& paddings, const std::string& mode,
                          double pad_value, const std::string& data_format);
/// The first of the three tensor dims that pad3d pads. Errors: InvalidArgument unless the format is
/// NCDHW or NDHWC.
int first_padded_dim(const std::string& data_format);
/// The paddings of one tensor dim. `paddings_by_dim` lists the three in the order of tensor dims.
struct Padding {
  int64_t before;
  int64_t after;
};
std::vector<Padding> paddings_by_dim(const IntArray& paddings);

/// Every strides[i]-th index of axes[i] in [starts[i], ends[i]), downwards if the stride is
/// negative. Negative bounds count from the end, except that the end -1 of a negative stride means
/// before the first index.
TensorMeta StridedSliceInferMeta(const TensorMeta& x, const std::vector<int>& axes,
                                 const IntArray& starts, const IntArray& ends,
                                 const IntArray& strides);
/// The indices of such a slice along one axis: begin, begin + step, .., `count` of them.
struct SliceSteps {
  int64_t begin;
  int64_t count;
};
SliceSteps slice_steps(int64_t start, int64_t end, int64_t step, int64_t extent);

/// Windows of `size` elements along `axis` at a stride of `step`. Their number replaces the extent
/// of `axis`, and the window is the new last tensor dim.
TensorMeta TensorUnfoldInferMeta(const TensorMeta& input, int64_t axis, int64_t size, int64_t step);

/// Errors: InvalidArgument if an element would be outside of input.
TensorMeta AsStridedInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& stride, int64_t offset);

/// Merges tensor dims start_axis to stop_axis (inclusive).
TensorMeta FlattenInferMeta(const TensorMeta& x, int start_axis, int stop_axis);

/// Like ReshapeInferMeta.
TensorMeta ViewShapeInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims);

/// The bits of input as elements of `dtype`. If sizes of elements differ, the last extent changes
/// in proportion. Errors: InvalidArgument if it does not hold whole elements.
TensorMeta ViewDtypeInferMeta(const TensorMeta& input, DataType dtype);

/// Rows [begin_idx, end_idx), at least one.
TensorMeta ViewSliceInferMeta(const TensorMeta& input, int64_t begin_idx, int64_t end_idx);

}  // namespace phi
