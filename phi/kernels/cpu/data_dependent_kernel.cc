// nonzero and masked_select on the CPU: count, allocate, fill. And masked_select's gradient.
//
// Such kernels find the shape of their outputs: an output comes with its dtype set and no storage,
// and is assigned.
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

/// Strides under which an array of `dims` is read as one of the broadcast shape `full`.
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

/// Copies the `count` elements chosen by a mask of x's own shape. Each is written before it is
/// known to be chosen, as the next one's place: a jump per element would be guessed wrong half the
/// time.
template <typename T>
void select_same(const T* x, const bool* mask, int64_t count, T* out) {
  for (int64_t i = 0, found = 0; found < count; ++i) {
    out[found] = x[i];
    found += mask[i] ? 1 : 0;
  }
}

/// The coordinates of x's elements that are not zero, x being not empty: row by row, those along
/// the row first, each written before it is known to be one.
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

/// out: int64 [n, ndim], the coordinates of the n elements that are not zero, in row-major order
/// (NaN is not zero). T is any dtype.
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
  // Every element of mask stands for as many of the broadcast shape as any other.
  const int64_t times = mask.numel() == 0 ? 0 : full.numel() / mask.numel();
  const int64_t count = std::count(chosen, chosen + mask.numel(), true) * times;
  *out = DenseTensor::empty({{count}, x.dtype(), out->meta().layout}, x.place());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (count == 0) return;
  if (x.dims() == full && mask.dims() == full) return select_same(from, chosen, count, to);
  for_each_chosen(x.dims(), mask, full, [&](int64_t at) { *to++ = from[at]; });
}

/// Puts out_grad [n] back where mask is true, zeros elsewhere; an element of x that was broadcast
/// gets the sum of its places. x_grad is allocated.
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
