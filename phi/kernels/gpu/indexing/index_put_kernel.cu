// index_put and its gradient on GPUs. out may be x. Shapes depend on the number of true elements of
// a bool index, so with one the host synchronises with the GPU.
#include <vector>

#include "phi/common/errors.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/index_positions.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/scan/prefix_sums.h"

namespace phi {
namespace {

using Indices = std::span<const DenseTensor* const>;

/// One index: places along one tensor dim, or along several dims counted as one.
struct IndexAlongDims {
  DenseTensor places;
  Dims shape;
  int count;
};

struct IsTrue {
  const bool* mask;
  PHI_HD bool operator()(int64_t i) const { return mask[i]; }
};

IndexAlongDims true_places(const GpuContext& ctx, const DenseTensor& mask) {
  const gpu::SelectedIndices chosen =
      gpu::select_indices(ctx, mask.numel(), IsTrue{mask.data<bool>()});
  return {chosen.places, {chosen.count()}, mask.ndim()};
}

/// Adds `stride` times the places of one index to the combined places. Negative places stay
/// negative.
struct AddPlaces {
  const int64_t* before;  // null for the first index
  const int64_t* own;
  int64_t stride;
  gpu::Walk<1> walk;
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t place = own[walk.offsets(i).at[0]];
    const int64_t sum = before ? before[i] : 0;
    return place < 0 || sum < 0 ? -1 : sum + place * stride;
  }
};

/// The elements that all indices select.
struct CombinedIndices {
  DenseTensor places;
  Dims shape;      // shape of the places, broadcast together
  int named_dims;  // indexed dims of the array, which places count as one
};

CombinedIndices positions_of_indices(const GpuContext& ctx, Indices indices, const Dims& dims) {
  std::vector<IndexAlongDims> each;
  CombinedIndices all{{}, {}, 0};
  for (const DenseTensor* index : indices) {
    each.push_back(index->dtype() == DataType::BOOL
                       ? true_places(ctx, *index)
                       : IndexAlongDims{positions_along(ctx, *index, "an index",
                                                        dims[all.named_dims], FromEnd::kYes),
                                        index->dims(), 1});
    const Dims& shape = each.back().shape;
    all.shape = each.size() == 1 ? shape : broadcast_dims(all.shape, shape, "an index", "the next");
    all.named_dims += each.back().count;
  }
  all.places = DenseTensor::empty({{all.shape.numel()}, DataType::INT64}, ctx.place());
  auto* places = all.places.mutable_data<int64_t>();
  int64_t stride = dims.numel(0, all.named_dims);
  int first = 0;
  for (const IndexAlongDims& named : each) {
    const int64_t extent = dims.numel(first, first + named.count);
    stride = extent == 0 ? 0 : stride / extent;
    index_loop(ctx, places, all.places.numel(),
               AddPlaces{first == 0 ? nullptr : places, named.places.data<int64_t>(), stride,
                         gpu::broadcast_walk<1>({&named.shape}, all.shape)});
    first += named.count;
  }
  return all;
}

/// The shape of the selected elements. Errors: InvalidArgument if `value` does not broadcast to it.
Dims named_shape(const CombinedIndices& named, const Dims& dims, const Dims& value) {
  Dims shape = named.shape;
  for (int d = named.named_dims; d < dims.ndim(); ++d) shape.push_back(dims[d]);
  PHI_CHECK(
      broadcast_dims(value, shape, "value", "x[indices]") == shape,
      errors::InvalidArgument("value has shape {}, but x[indices] is {}; reshape or slice it.",
                              value.to_string(), shape.to_string()));
  return shape;
}

/// Pieces that broadcast `value` to `shape`.
Pieces broadcast(const Dims& value, const Dims& shape) {
  const Dims from = value.strides();
  const Dims to = shape.strides();
  const int added = shape.ndim() - value.ndim();
  Pieces pieces;
  for (int d = 0; d < shape.ndim(); ++d) {
    const bool moves = d >= added && value[d - added] != 1;
    pieces.append(shape[d], {to[d], moves ? from[d - added] : 0});
  }
  return pieces;
}

}  // namespace

/// The indexed tensor dims of x are unsharded. Errors: InvalidArgument if value does not broadcast
/// to the selected elements.
template <typename T, typename Context>
void IndexPutKernel(const Context& ctx, const DenseTensor& x, Indices indices,
                    const DenseTensor& value, bool accumulate, DenseTensor* out) {
  using W = width_t<T>;
  const CombinedIndices named = positions_of_indices(ctx, indices, x.dims());
  const Dims shape = named_shape(named, x.dims(), value.dims());
  DenseTensor full = DenseTensor::empty({shape, value.dtype()}, ctx.place());
  copy_pieces<T>(ctx, broadcast(value.dims(), shape), value, &full);
  const Slices slices = Slices::of_first(x.dims(), named.named_dims);
  if (accumulate) {
    return add_slices(ctx, SumsFrom::kExisting, slices, named.places, x.data<T>(), full.data<T>(),
                      out->mutable_data<T>());
  }
  keep(ctx, x, out);
  put_slices(ctx, slices, named.places, static_cast<const W*>(full.raw_data()),
             static_cast<W*>(out->mutable_raw_data()));
}

template <typename T, typename Context>
void IndexPutGradKernel(const Context& ctx, Indices indices, const DenseTensor& out_grad,
                        bool accumulate, DenseTensor* x_grad, DenseTensor* value_grad) {
  const CombinedIndices named = positions_of_indices(ctx, indices, out_grad.dims());
  const Slices slices = Slices::of_first(out_grad.dims(), named.named_dims);
  if (x_grad) {
    keep(ctx, out_grad, x_grad);
    if (!accumulate) clear_slices(ctx, slices, named.places, x_grad->mutable_data<T>());
  }
  if (!value_grad) return;
  const Dims shape = named_shape(named, out_grad.dims(), value_grad->dims());
  DenseTensor full = DenseTensor::empty({shape, out_grad.dtype()}, ctx.place());
  const DenseTensor places = accumulate ? named.places : last_named(ctx, slices, named.places);
  read_slices(ctx, slices, places, out_grad.data<T>(), full.mutable_data<T>());
  sum_pieces_back<T>(ctx, broadcast(value_grad->dims(), shape), full, value_grad);
}

using GpuIndexPutGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(index_put, GPU, IndexPutKernel, EveryType);
PHI_REGISTER_KERNEL(index_put_grad, GPU, IndexPutGradKernel, GpuIndexPutGradTypes);

}  // namespace phi
