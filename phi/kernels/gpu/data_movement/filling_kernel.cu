// Kernels that fill arrays with values computed from attributes, on GPUs. Each writes its shard of
// the global tensor.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"
#include "phi/generated/kernels/filling.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/scalar_value.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/value_on_host.h"

namespace phi {
namespace {

/// The i-th of `count` evenly spaced numbers from start to stop, computed from the nearer end.
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

/// Element i of rows of `columns` elements: 1 on the diagonal, which is shifted by `shift` columns.
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

/// The elements (r, c) of a [rows, columns] matrix with c - r <= offset, or >= offset, in row-major
/// order. Row r has clamp(r + shift, 0, columns) elements left of the boundary; the triangle has
/// these, or the others.
struct TriangleLayout {
  int64_t rows;
  int64_t columns;
  int64_t shift;
  bool lower;

  /// The sum of clamp(q + shift, 0, columns) over rows q < r.
  PHI_HD int64_t left_before(int64_t r) const {
    const auto clamped = [r](int64_t q) { return q < 0 ? 0 : (q > r ? r : q); };
    const int64_t first = clamped(-shift);          // first row with such elements
    const int64_t full = clamped(columns - shift);  // first row with `columns` of them
    const int64_t rising = full - first;
    return rising * (first + full - 1) / 2 + shift * rising + (r - full) * columns;
  }
  PHI_HD int64_t before(int64_t r) const {
    return lower ? left_before(r) : r * columns - left_before(r);
  }
  /// Row of element number `at`.
  PHI_HD int64_t row_of(int64_t at) const {
    int64_t low = 0;
    int64_t high = rows;  // before(low) <= at < before(high)
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (before(middle) <= at ? low : high) = middle;
    }
    return low;
  }
  PHI_HD int64_t column_of(int64_t at, int64_t row) const {
    const int64_t here = at - before(row);
    if (lower) return here;
    const int64_t begin = row + shift;
    return here + (begin < 0 ? 0 : begin);
  }
};

/// Element i of a shard of [2, n]: row indices, then column indices.
template <typename T>
struct TriangleIndex {
  TriangleLayout triangle;
  int64_t width;  // local extent
  int64_t first_line;
  int64_t first;
  PHI_HD T operator()(int64_t i) const {
    const int64_t line = i / width;
    const int64_t at = first + i - line * width;
    const int64_t row = triangle.row_of(at);
    return static_cast<T>(first_line + line == 0 ? row : triangle.column_of(at, row));
  }
};

template <typename T>
void triangle_indices(const GpuContext& ctx, const TriangleLayout& triangle, DenseTensor* out) {
  const Box here = ctx.output_box(0, out->dims()).box;
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             TriangleIndex<T>{triangle, here.size[1], here.offset[0], here.offset[1]});
}

/// 1 below a row's length, else 0; by element width.
template <typename W>
struct BelowLength {
  const double* lengths;
  int64_t width;
  W one;
  PHI_HD W operator()(int64_t i) const {
    const int64_t row = i / width;
    return static_cast<double>(i - row * width) < lengths[row] ? one : W{};
  }
};

/// The maximum of an array, on the host. Synchronises with the GPU.
double largest_of(const GpuContext& ctx, const DenseTensor& x) {
  DenseTensor most = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  reduce_all<MaxReducer<double>>(ctx, x.data<double>(), x.numel(), most.mutable_data<double>());
  return gpu::value_on_host<double>(most);
}

/// Copies the only element of an array to all elements; by element width.
template <typename W>
struct OnlyElement {
  const W* value;
  PHI_HD W operator()(int64_t) const { return *value; }
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
[[noreturn]] void throw_no_index(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "input holds {} at flat position {}, but index_num is {}; it must be in [0, {}).",
      found.value, found.at, found.extent, found.extent);
}

/// Copies this rank's shard of the host array `values`, which has the global tensor's elements.
template <typename T>
void copy_values(const GpuContext& ctx, const T* values, DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  const DenseTensor all = array_from_host(ctx, values, static_cast<size_t>(here.global.numel()));
  if (out->numel() == 0) return;
  copy_box(all, Box::whole(here.global), *out, here.box, here.box);
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

/// `value` has one element of any dtype.
template <typename T, typename Context>
void FullWithTensorKernel(const Context& ctx, const DenseTensor& value, DenseTensor* out) {
  DenseTensor element = DenseTensor::empty({{}, out->dtype()}, ctx.place());
  gpu::cast(ctx, value, &element);
  using W = width_t<T>;
  index_loop(ctx, static_cast<W*>(out->mutable_raw_data()), out->numel(),
             OnlyElement<W>{static_cast<const W*>(element.raw_data())});
}

/// `values` has the elements of the global tensor.
template <typename T, typename Context>
void AssignValueKernel(const Context& ctx, const std::vector<Scalar>& values, DenseTensor* out) {
  const auto all = std::make_unique_for_overwrite<T[]>(values.size());
  std::ranges::transform(values, all.get(), scalar_value<T>);
  copy_values(ctx, all.get(), out);
}

/// Ones on the main diagonal, else zeros.
template <typename T, typename Context>
void EyeKernel(const Context& ctx, DenseTensor* out) {
  const Box here = ctx.output_box(0, out->dims()).box;
  using W = width_t<T>;
  index_loop(ctx, static_cast<W*>(out->mutable_raw_data()), out->numel(),
             OnDiagonal<W>{here.size[1], here.offset[0] - here.offset[1], std::bit_cast<W>(T(1))});
}

template <typename T, typename Context>
void LinspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             EvenlySpaced<T>{spacing_of<T>(start, stop, here.global[0]), here.box.offset[0]});
}

/// base^e for evenly spaced exponents e.
template <typename T, typename Context>
void LogspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, const Scalar& base,
                    DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, out->dims());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             PowerSpaced<T>{spacing_of<T>(start, stop, here.global[0]),
                            static_cast<double>(scalar_value<T>(base)), here.box.offset[0]});
}

template <typename T, typename Context>
void TrilIndicesKernel(const Context& ctx, int rows, int cols, int offset, DenseTensor* out) {
  triangle_indices<T>(ctx, {rows, cols, int64_t{offset} + 1, /*lower=*/true}, out);
}

template <typename T, typename Context>
void TriuIndicesKernel(const Context& ctx, int row, int col, int offset, DenseTensor* out) {
  triangle_indices<T>(ctx, {row, col, offset, /*lower=*/false}, out);
}

/// T is the dtype of x. y is not allocated: if max_len is negative, y's last extent is the maximum
/// of x, for which the host synchronises with the GPU. Errors: InvalidArgument if x is empty then,
/// or its maximum is negative.
template <typename T, typename Context>
void SequenceMaskKernel(const Context& ctx, const DenseTensor& x, const Scalar& max_len,
                        DenseTensor* y) {
  DenseTensor lengths = DenseTensor::empty({x.dims(), DataType::FLOAT64}, ctx.place());
  convert(ctx, x.data<T>(), lengths.mutable_data<double>(), x.numel());
  auto width = max_len.to<int64_t>();
  if (width < 0) {
    PHI_CHECK(
        x.numel() > 0,
        errors::InvalidArgument(
            "max_len is {}, which requests the largest of x {}, but x is empty; pass max_len.",
            width, x.meta().to_string()));
    width = convert_value<int64_t>(largest_of(ctx, lengths));
    PHI_CHECK(width >= 0,
              errors::InvalidArgument(
                  "the largest of x {} is {}, but lengths are at least 0; pass max_len.",
                  x.meta().to_string(), width));
    Dims dims = x.dims();
    dims.push_back(width);
    *y = DenseTensor::empty({dims, y->dtype(), y->meta().layout}, ctx.place());
  }
  if (y->numel() == 0) return;
  visit_any_dtype(y->dtype(), [&]<typename To>() {
    using W = width_t<To>;
    index_loop(ctx, static_cast<W*>(y->mutable_raw_data()), y->numel(),
               BelowLength<W>{lengths.data<double>(), width, std::bit_cast<W>(To(1))});
  });
}

/// An index in shard `shard_id` becomes relative to the shard's first index; others become
/// `ignore_value`. Errors: InvalidArgument for an index that is not below index_num.
template <typename T, typename Context>
void ShardIndexKernel(const Context& ctx, const DenseTensor& input, int index_num, int nshards,
                      int shard_id, int ignore_value, DenseTensor* out) {
  const int64_t size = (int64_t{index_num} + nshards - 1) / nshards;
  check_elements<T>(ctx, input, IsNoIndex{index_num},
                    {.argument = "input", .raise = throw_no_index, .extent = index_num});
  unary_loop(ctx, input.data<T>(), out->mutable_data<T>(), input.numel(),
             ShardIndex<T>{size * shard_id, size, ignore_value});
}

/// The size of the global tensor; so are the results of the next two kernels.
template <typename T, typename Context>
void NumelKernel(const Context& ctx, const DenseTensor& x, DenseTensor* size) {
  set_one(ctx, ctx.input_box(0, x.dims()).global.numel(), size);
}

/// out is int32 or int64. Errors: OutOfRange if an extent does not fit in int32.
template <typename T, typename Context>
void ShapeKernel(const Context& ctx, const DenseTensor& input, DenseTensor* out) {
  const Dims dims = ctx.input_box(0, input.dims()).global;
  const bool is_wide = out->dtype() == DataType::INT64;
  for (int d = 0; d < dims.ndim(); ++d) {
    PHI_CHECK(is_wide || dims[d] <= std::numeric_limits<int32_t>::max(),
              errors::OutOfRange("input has shape {}, which does not fit int32; use shape64.",
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
PHI_REGISTER_KERNEL(tril_indices, GPU, TrilIndicesKernel, AllIntegers);
PHI_REGISTER_KERNEL(triu_indices, GPU, TriuIndicesKernel, AllIntegers);
PHI_REGISTER_KERNEL(sequence_mask, GPU, SequenceMaskKernel, Numbers);
PHI_REGISTER_KERNEL(shard_index, GPU, ShardIndexKernel, AllIntegers);
PHI_REGISTER_KERNEL(numel, GPU, NumelKernel, EveryType);
PHI_REGISTER_KERNEL(shape, GPU, ShapeKernel, EveryType);
PHI_REGISTER_KERNEL(is_empty, GPU, IsEmptyKernel, EveryType);

}  // namespace phi
