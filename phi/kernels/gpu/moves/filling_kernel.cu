// Kernels that fill arrays with values that attributes say, on GPUs. Each writes the part of the
// global tensor that is here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "phi/common/errors.h"
#include "phi/generated/kernels/filling.h"
#include "phi/kernels/functors/scalar_value.h"
#include "phi/kernels/gpu/moves/move.h"
#include "phi/kernels/gpu/words.h"

namespace phi {
namespace {

/// The i-th of `count` numbers evenly spaced from start to stop, counted from the nearer end.
struct Spacing {
  double start;
  double stop;
  int64_t count;
  double step;
  PHI_HD double operator()(int64_t i) const {
    if (i == 0 || i < count / 2) return start + step * static_cast<double>(i);
    return stop - step * static_cast<double>(count - 1 - i);
  }
};

template <typename T>
Spacing spacing_of(const Scalar& start, const Scalar& stop, int64_t count) {
  const auto from = static_cast<double>(scalar_value<T>(start));
  const auto to = static_cast<double>(scalar_value<T>(stop));
  return {from, to, count, count > 1 ? (to - from) / static_cast<double>(count - 1) : 0};
}

template <typename T>
struct EvenlySpaced {
  Spacing spacing;
  int64_t first;
  PHI_HD T operator()(int64_t i) const { return convert_value<T>(spacing(first + i)); }
};

template <typename T>
struct PowerSpaced {
  Spacing spacing;
  double base;
  int64_t first;
  PHI_HD T operator()(int64_t i) const {
    return convert_value<T>(std::pow(base, spacing(first + i)));
  }
};

/// Element i of rows of `columns`, whose diagonal is `shift` behind their number.
template <typename W>
struct OnDiagonal {
  int64_t columns;
  int64_t shift;
  W one;
  PHI_HD W operator()(int64_t i) const {
    const int64_t row = i / columns;
    return i - row * columns == row + shift ? one : W{};
  }
};

/// The only element of an array, for all.
template <typename T, typename From>
struct OnlyElement {
  const From* value;
  PHI_HD T operator()(int64_t) const { return convert_value<T>(*value); }
};

template <typename T>
struct ShardIndex {
  int64_t first;
  int64_t size;
  int64_t otherwise;
  PHI_HD T operator()(T index) const {
    const bool here = index >= first && index < first + size;
    return static_cast<T>(here ? index - first : otherwise);
  }
};

struct IsNoIndex {
  int64_t extent;
  PHI_HD bool operator()(int64_t index) const { return index < 0 || index >= extent; }
};
[[noreturn]] void throw_no_index(const Misfit& found) {
  throw errors::InvalidArgument(
      "input holds {} at flat position {}, but index_num is {}; it must be in [0, {}).",
      found.value, found.at, found.extent, found.extent);
}

/// `values` of the host, the whole tensor's, to the part that is here.
template <typename T>
void copy_values(const GpuContext& ctx, const T* values, DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  const DenseTensor all = array_from_host(ctx, values, static_cast<size_t>(here.global.numel()));
  if (out->numel() == 0) return;
  gpu::GpuDevice::of(ctx.place())
      .copy_box(static_cast<const std::byte*>(all.raw_data()), Box::whole(here.global),
                static_cast<std::byte*>(out->mutable_raw_data()), here.box, here.box, sizeof(T));
}

template <typename T>
void set_one(const GpuContext& ctx, T value, DenseTensor* out) {
  fill(ctx, out->mutable_data<T>(), 1, value);
}

}  // namespace

template <typename T, typename Context>
void FullIntArrayKernel(const Context& ctx, const std::vector<int64_t>& value, DenseTensor* out) {
  const auto all = std::make_unique_for_overwrite<T[]>(value.size());
  std::ranges::transform(value, all.get(), [](int64_t each) { return convert_value<T>(each); });
  copy_values(ctx, all.get(), out);
}

/// value has one element, of any dtype.
template <typename T, typename Context>
void FullWithTensorKernel(const Context& ctx, const DenseTensor& value, DenseTensor* out) {
  visit_any_dtype(value.dtype(), [&]<typename From>() {
    index_loop(ctx, out->mutable_data<T>(), out->numel(), OnlyElement<T, From>{value.data<From>()});
  });
}

/// As many values as the global tensor has elements.
template <typename T, typename Context>
void AssignValueKernel(const Context& ctx, const std::vector<Scalar>& values, DenseTensor* out) {
  const auto all = std::make_unique_for_overwrite<T[]>(values.size());
  std::ranges::transform(values, all.get(), scalar_value<T>);
  copy_values(ctx, all.get(), out);
}

/// Ones where row and column have one number.
template <typename T, typename Context>
void EyeKernel(const Context& ctx, DenseTensor* out) {
  const Box here = ctx.output_box(0, out->dims()).box;
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             OnDiagonal<T>{here.size[1], here.offset[0] - here.offset[1], T(1)});
}

template <typename T, typename Context>
void LinspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             EvenlySpaced<T>{spacing_of<T>(start, stop, here.global[0]), here.box.offset[0]});
}

/// `base` to the power of evenly spaced numbers.
template <typename T, typename Context>
void LogspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, const Scalar& base,
                    DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             PowerSpaced<T>{spacing_of<T>(start, stop, here.global[0]),
                            static_cast<double>(scalar_value<T>(base)), here.box.offset[0]});
}

/// An index of shard `shard_id` counted from the shard's first one, `ignore_value` for all others.
/// Errors: InvalidArgument for one that is not below index_num.
template <typename T, typename Context>
void ShardIndexKernel(const Context& ctx, const DenseTensor& input, int index_num, int nshards,
                      int shard_id, int ignore_value, DenseTensor* out) {
  const int64_t size = (int64_t{index_num} + nshards - 1) / nshards;
  refuse_elements<T>(ctx, input, IsNoIndex{index_num},
                     {.argument = "input", .raise = throw_no_index, .extent = index_num});
  unary_loop(ctx, input.data<T>(), out->mutable_data<T>(), input.numel(),
             ShardIndex<T>{size * shard_id, size, ignore_value});
}

/// Of the global tensor, as are the next two.
template <typename T, typename Context>
void NumelKernel(const Context& ctx, const DenseTensor& x, DenseTensor* size) {
  set_one(ctx, ctx.input_box(0, x.dims()).global.numel(), size);
}

/// out is int32 or int64. Errors: OutOfRange for an extent that does not fit.
template <typename T, typename Context>
void ShapeKernel(const Context& ctx, const DenseTensor& input, DenseTensor* out) {
  const Dims dims = ctx.input_box(0, input.dims()).global;
  const bool is_wide = out->dtype() == DataType::INT64;
  for (int d = 0; d < dims.ndim(); ++d) {
    PHI_CHECK(is_wide || dims[d] <= std::numeric_limits<int32_t>::max(),
              errors::OutOfRange("input has shape {}, which int32 does not hold; use shape64.",
                                 dims.to_string()));
    if (is_wide) {
      fill(ctx, out->mutable_data<int64_t>() + d, 1, dims[d]);
    } else {
      fill(ctx, out->mutable_data<int32_t>() + d, 1, static_cast<int32_t>(dims[d]));
    }
  }
}

template <typename T, typename Context>
void IsEmptyKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  set_one(ctx, ctx.input_box(0, x.dims()).global.numel() == 0, out);
}

PHI_REGISTER_KERNEL(full_int_array, GPU, FullIntArrayKernel, EveryType);
PHI_REGISTER_KERNEL(full_with_tensor, GPU, FullWithTensorKernel, EveryType);
PHI_REGISTER_KERNEL(assign_value, GPU, AssignValueKernel, EveryType);
PHI_REGISTER_KERNEL(eye, GPU, EyeKernel, EveryType);
PHI_REGISTER_KERNEL(linspace, GPU, LinspaceKernel, Numbers);
PHI_REGISTER_KERNEL(logspace, GPU, LogspaceKernel, Numbers);
PHI_REGISTER_KERNEL(shard_index, GPU, ShardIndexKernel, AllIntegers);
PHI_REGISTER_KERNEL(numel, GPU, NumelKernel, EveryType);
PHI_REGISTER_KERNEL(shape, GPU, ShapeKernel, EveryType);
PHI_REGISTER_KERNEL(is_empty, GPU, IsEmptyKernel, EveryType);

}  // namespace phi
