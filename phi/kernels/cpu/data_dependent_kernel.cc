// nonzero and masked_select on the CPU, which count, allocate and fill; and masked_select's
// gradient.
//
// These kernels compute the shape of their outputs: the caller passes an output with a dtype and no
// storage, and the kernel assigns it.
#include <algorithm>
#include <vector>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

template <typename T>
bool is_nonzero(T x) {
  if constexpr (kIs16Bit<T>) {
    return static_cast<float>(x) != 0.0f;
  } else {
    return x != T(0);
  }
}

/// Steps to the next element in row-major order.
void advance(const Dims& dims, Dims* at) {
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    if (++(*at)[d] < dims[d]) return;
    (*at)[d] = 0;
  }
}

/// Returns the strides with which an array of `dims` is read in the broadcast shape `full`.
Dims broadcast_strides(const Dims& dims, const Dims& full) {
  const Dims own = dims.strides();
  const int missing = full.ndim() - dims.ndim();
  Dims strides = Dims::filled(full.ndim(), 0);
  for (int d = 0; d < dims.ndim(); ++d) strides[missing + d] = dims[d] == 1 ? 0 : own[d];
  return strides;
}

int64_t offset_at(const Dims& at, const Dims& strides) {
  int64_t offset = 0;
  for (int d = 0; d < at.ndim(); ++d) offset += at[d] * strides[d];
  return offset;
}

/// Calls f(offset in an array of `dims`) for each true element of mask, both broadcast to `full`.
template <typename F>
void for_each_chosen(const Dims& dims, const DenseTensor& mask, const Dims& full, F&& f) {
  const bool* chosen = mask.data<bool>();
  const Dims strides = broadcast_strides(dims, full);
  const Dims mask_strides = broadcast_strides(mask.dims(), full);
  Dims at = Dims::filled(full.ndim(), 0);
  const int64_t n = full.numel();
  for (int64_t i = 0; i < n; ++i) {
    if (chosen[offset_at(at, mask_strides)]) f(offset_at(at, strides));
    advance(full, &at);
  }
}

/// Copies the `count` elements selected by a mask of x's own shape. Each element is written to the
/// next free place before the mask is tested: a branch per element would be mispredicted half the
/// time.
template <typename T>
void select_same(const T* x, const bool* mask, int64_t count, T* out) {
  for (int64_t i = 0, found = 0; found < count; ++i) {
    out[found] = x[i];
    found += mask[i] ? 1 : 0;
  }
}

/// Writes the coordinates of x's nonzero elements; x is not empty. The columns of a row are found
/// first, each written before it is tested.
template <typename T>
void write_places(const T* x, const Dims& dims, int64_t* to) {
  const int last = dims.ndim() - 1;
  const int64_t width = last < 0 ? 1 : dims[last];
  std::vector<int64_t> columns(static_cast<size_t>(width));
  Dims at = Dims::filled(std::max(0, last), 0);
  Dims outer = at;
  for (int d = 0; d < last; ++d) outer[d] = dims[d];
  for (int64_t rows = dims.numel() / width; rows > 0; --rows, x += width) {
    size_t found = 0;
    for (int64_t c = 0; c < width; ++c) {
      columns[found] = c;
      found += is_nonzero(x[c]) ? 1 : 0;
    }
    for (size_t k = 0; k < found && last >= 0; ++k) {
      to = std::copy(at.begin(), at.end(), to);
      *to++ = columns[k];
    }
    advance(outer, &at);
  }
}

}  // namespace

/// out: int64 [n, ndim], the coordinates of the n nonzero elements, in row-major order. NaN is
/// nonzero. T is any dtype.
template <typename T, typename Context>
void NonZeroKernel(const Context&, const DenseTensor& condition, DenseTensor* out) {
  const T* x = condition.data<T>();
  const int64_t n = condition.numel();
  const int64_t found = std::count_if(x, x + n, is_nonzero<T>);
  const Dims& dims = condition.dims();
  *out = DenseTensor::empty({{found, dims.ndim()}, DataType::INT64, out->meta().layout},
                            condition.place());
  if (found > 0) write_places(x, dims, out->mutable_data<int64_t>());
}

/// The elements of x where mask is true, row-major, 1-D; x and mask are broadcast to one shape.
/// T is any dtype.
template <typename T, typename Context>
void MaskedSelectKernel(const Context&, const DenseTensor& x, const DenseTensor& mask,
                        DenseTensor* out) {
  const Dims full = broadcast_dims(x.dims(), mask.dims(), "x", "mask");
  const bool* chosen = mask.data<bool>();
  // Each element of mask covers the same number of elements of the broadcast shape.
  const int64_t times = mask.numel() == 0 ? 0 : full.numel() / mask.numel();
  const int64_t count = std::count(chosen, chosen + mask.numel(), true) * times;
  *out = DenseTensor::empty({{count}, x.dtype(), out->meta().layout}, x.place());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (count == 0) return;
  if (x.dims() == full && mask.dims() == full) return select_same(from, chosen, count, to);
  for_each_chosen(x.dims(), mask, full, [&](int64_t at) { *to++ = from[at]; });
}

/// Copies out_grad [n] to where mask is true and writes zeros elsewhere. An element of x that was
/// broadcast gets the sum over its places. x_grad is allocated.
template <typename T, typename Context>
void MaskedSelectGradKernel(const Context&, const DenseTensor& mask, const DenseTensor& out_grad,
                            DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const Dims full = broadcast_dims(dims, mask.dims(), "x", "mask");
  const T* from = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  if (dims == full && mask.dims() == full) {
    const bool* chosen = mask.data<bool>();
    for (int64_t i = 0; i < x_grad->numel(); ++i) to[i] = chosen[i] ? *from++ : T(0);
    return;
  }
  std::vector<compute_t<T>> sums(static_cast<size_t>(x_grad->numel()));
  for_each_chosen(dims, mask, full,
                  [&](int64_t at) { sums[at] += static_cast<compute_t<T>>(*from++); });
  convert(sums.data(), to, x_grad->numel());
}

PHI_REGISTER_KERNEL(nonzero, CPU, NonZeroKernel, EveryType);
PHI_REGISTER_KERNEL(masked_select, CPU, MaskedSelectKernel, EveryType);
PHI_REGISTER_KERNEL(masked_select_grad, CPU, MaskedSelectGradKernel, Inexact);

}  // namespace phi
