// Shapes of ops that turn, shift, repeat, cut and pad, and of views.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

TensorMeta FlipInferMeta(const TensorMeta& x, const std::vector<int>& axis);
TensorMeta ReverseInferMeta(const TensorMeta& x, const IntArray& axis);

/// One shift per axis; without axes one shift of all of x in row-major order.
TensorMeta RollInferMeta(const TensorMeta& x, const IntArray& shifts,
                         const std::vector<int64_t>& axis);

/// x and repeat_times are aligned to the right; what is missing is 1.
TensorMeta TileInferMeta(const TensorMeta& x, const IntArray& repeat_times);

/// An output_size that is not -1 must be what comes out.
TensorMeta RepeatInterleaveInferMeta(const TensorMeta& x, int repeats, int axis,
                                     int64_t output_size);
/// The extent of `axis` is known only from the values of repeats, or from output_size.
TensorMeta RepeatInterleaveWithTensorIndexInferMeta(const TensorMeta& x, const TensorMeta& repeats,
                                                    int axis, int64_t output_size);

/// `shape` elements of each tensor dim from `offsets` on; -1 takes all that follow.
TensorMeta CropInferMeta(const TensorMeta& x, const IntArray& shape, const IntArray& offsets);

TensorMeta PadInferMeta(const TensorMeta& x, const std::vector<int>& paddings,
                        const Scalar& pad_value);

/// Negative paddings cut. The modes are constant, reflect, replicate and circular.
TensorMeta Pad3dInferMeta(const TensorMeta& x, const IntArray& paddings, const std::string& mode,
                          double pad_value, const std::string& data_format);
/// The first of the three tensor dims that pad3d pads. Errors: InvalidArgument for a format other
/// than NCDHW and NDHWC.
int first_padded_dim(const std::string& data_format);
/// The paddings of the three, as (before, after), in the order of the tensor dims.
struct Padding {
  int64_t before;
  int64_t after;
};
std::vector<Padding> paddings_by_dim(const IntArray& paddings);

/// Every strides[i]-th index of axes[i] from starts[i] to before ends[i], downwards where the step
/// is negative. Negative bounds count from the end, but the end -1 of a negative step lies before
/// the first index.
TensorMeta StridedSliceInferMeta(const TensorMeta& x, const std::vector<int>& axes,
                                 const IntArray& starts, const IntArray& ends,
                                 const IntArray& strides);
/// The indices of such a slice: begin, begin + step, ..., `count` of them.
struct SliceSteps {
  int64_t begin;
  int64_t count;
};
SliceSteps slice_steps(int64_t start, int64_t end, int64_t step, int64_t extent);

/// Windows of `size` elements, `step` apart, along `axis`, which holds their number; the window
/// itself is the last tensor dim.
TensorMeta TensorUnfoldInferMeta(const TensorMeta& input, int64_t axis, int64_t size, int64_t step);

/// Errors: InvalidArgument where an element would lie outside input.
TensorMeta AsStridedInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& stride, int64_t offset);

/// Tensor dims start_axis to stop_axis, both included, become one.
TensorMeta FlattenInferMeta(const TensorMeta& x, int start_axis, int stop_axis);

/// As reshape.
TensorMeta ViewShapeInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims);

TensorMeta ViewDtypeInferMeta(const TensorMeta& input, DataType dtype);

/// Rows begin_idx to before end_idx, one at least.
TensorMeta ViewSliceInferMeta(const TensorMeta& input, int64_t begin_idx, int64_t end_idx);

}  // namespace phi
