// nonzero and masked_select on GPUs. The host waits for the number of chosen elements and allocates
// the output. The gradient of masked_select does not wait.
#include "phi/common/inexact.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/scan/prefix_sums.h"

namespace phi {
namespace {

template <typename T>
struct IsNonzero {
  const T* x;
  PHI_HD bool operator()(int64_t i) const {
    return static_cast<compute_t<T>>(x[i]) != compute_t<T>(0);
  }
};

/// Element i of [places, ndim]: one coordinate of a chosen element.
struct Coordinate {
  const int64_t* places;
  int64_t ndim;
  int64_t sizes[kMaxNdim];
  int64_t strides[kMaxNdim];

  Coordinate(const int64_t* flat, const Dims& dims) : places(flat), ndim(dims.ndim()) {
    const Dims steps = dims.strides();
    for (int d = 0; d < dims.ndim(); ++d) {
      sizes[d] = dims[d];
      strides[d] = steps[d];
    }
  }
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t row = i / ndim;
    const int64_t d = i - row * ndim;
    return places[row] / strides[d] % sizes[d];
  }
};

/// Offsets of a mask and of an array that is broadcast with it.
struct MaskedDims {
  Dims full;
  gpu::Walk<1> of_mask;
  gpu::Walk<1> of_array;

  MaskedDims(const Dims& dims, const Dims& mask)
      : full(broadcast_dims(dims, mask, "x", "mask")),
        of_mask(gpu::broadcast_walk<1>({&mask}, full)),
        of_array(gpu::broadcast_walk<1>({&dims}, full)) {}
};

struct IsTrueOfMask {
  const bool* mask;
  gpu::Walk<1> walk;
  PHI_HD bool operator()(int64_t i) const { return mask[walk.offsets(i).at[0]]; }
};

template <typename W>
struct TakeChosen {
  const W* x;
  const int64_t* places;
  gpu::Walk<1> walk;
  PHI_HD W operator()(int64_t k) const { return x[walk.offsets(places[k]).at[0]]; }
};

/// Maps the index of a chosen element to its offset in the array; -1 stays.
struct SourceOf {
  gpu::Walk<1> walk;
  PHI_HD int64_t operator()(int64_t place) const {
    return place < 0 ? place : walk.offsets(place).at[0];
  }
};

/// Scatters gradients to the chosen elements; other elements are zero.
template <typename T>
struct PutBack {
  IsTrueOfMask is_true;
  const int64_t* before;
  const T* out_grad;
  int64_t count;
  PHI_HD T operator()(int64_t i) const {
    return is_true(i) && before[i] < count ? out_grad[before[i]] : T(0.0f);
  }
};

}  // namespace

template <typename T, typename Context>
void NonZeroKernel(const Context& ctx, const DenseTensor& condition, DenseTensor* out) {
  const Dims& dims = condition.dims();
  const gpu::SelectedIndices chosen =
      gpu::select_indices(ctx, condition.numel(), IsNonzero<T>{condition.data<T>()});
  *out = DenseTensor::empty({{chosen.count(), dims.ndim()}, DataType::INT64, out->meta().layout},
                            ctx.place());
  index_loop(ctx, out->mutable_data<int64_t>(), out->numel(),
             Coordinate(chosen.places.data<int64_t>(), dims));
}

template <typename T, typename Context>
void MaskedSelectKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& mask,
                        DenseTensor* out) {
  using W = width_t<T>;
  const MaskedDims dims(x.dims(), mask.dims());
  const gpu::SelectedIndices chosen =
      gpu::select_indices(ctx, dims.full.numel(), IsTrueOfMask{mask.data<bool>(), dims.of_mask});
  *out = DenseTensor::empty({{chosen.count()}, x.dtype(), out->meta().layout}, ctx.place());
  index_loop(ctx, static_cast<W*>(out->mutable_raw_data()), out->numel(),
             TakeChosen<W>{static_cast<const W*>(x.raw_data()), chosen.places.data<int64_t>(),
                           dims.of_array});
}

/// An element of x that was broadcast receives the sum over its copies.
template <typename T, typename Context>
void MaskedSelectGradKernel(const Context& ctx, const DenseTensor& mask,
                            const DenseTensor& out_grad, DenseTensor* x_grad) {
  const int64_t n = x_grad->numel();
  if (n == 0) return;
  const MaskedDims dims(x_grad->dims(), mask.dims());
  const IsTrueOfMask is_true{mask.data<bool>(), dims.of_mask};
  const DenseTensor before = gpu::prefix_sums(ctx, dims.full.numel(), is_true);
  if (x_grad->dims() == dims.full) {
    return index_loop(
        ctx, x_grad->mutable_data<T>(), n,
        PutBack<T>{is_true, before.data<int64_t>(), out_grad.data<T>(), out_grad.numel()});
  }
  DenseTensor places = DenseTensor::empty({out_grad.dims(), DataType::INT64}, ctx.place());
  auto* to = places.mutable_data<int64_t>();
  fill(ctx, to, places.numel(), int64_t{-1});
  gpu::write_places(ctx, before, is_true, &places);
  unary_loop(ctx, to, to, places.numel(), SourceOf{dims.of_array});
  T* grad = x_grad->mutable_data<T>();
  add_slices(ctx, SumsFrom::kZero, {1, n, 1}, places, grad, out_grad.data<T>(), grad);
}

PHI_REGISTER_KERNEL(nonzero, GPU, NonZeroKernel, EveryType);
PHI_REGISTER_KERNEL(masked_select, GPU, MaskedSelectKernel, EveryType);
PHI_REGISTER_KERNEL(masked_select_grad, GPU, MaskedSelectGradKernel, Inexact);

}  // namespace phi
