// CPU kernels that fill arrays from attributes. Each writes the local part of the global tensor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/filling.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/data_movement/evenly_spaced.h"
#include "phi/kernels/functors/scalar_value.h"

namespace phi {
namespace {

/// Sets out[i] = f(number at i's global position), for evenly spaced numbers from start to stop.
/// Each is computed from the nearer end.
template <typename T, typename Context, typename F>
void fill_spaced(const Context& ctx, const Scalar& start, const Scalar& stop, DenseTensor* out,
                 F f) {
  const ShardBox here = ctx.output_box(0, out->dims());
  const int64_t count = here.global[0], first = here.box.offset[0], n = out->numel();
  const auto from = static_cast<double>(scalar_value<T>(start));
  const auto end = static_cast<double>(scalar_value<T>(stop));
  const double step = count > 1 ? (end - from) / static_cast<double>(count - 1) : 0;
  const int64_t nearer = std::clamp<int64_t>(std::max<int64_t>(count / 2, 1) - first, 0, n);
  const auto fill = [=](double zero, int64_t index, T* to, int64_t some) {
    for_evenly_spaced({zero, step}, index, some,
                      [=](int64_t i, double number) { to[i] = convert_value<T>(f(number)); });
  };
  T* to = out->mutable_data<T>();
  fill(from, first, to, nearer);
  fill(end, first + nearer - (count - 1), to + nearer, n - nearer);
}

/// The elements (r, c) with c - r <= offset, or >= offset, as ranges of columns per row.
struct TriangleColumns {
  int64_t columns;
  int64_t offset;
  bool lower;

  int64_t begin(int64_t row) const {
    return lower ? 0 : std::clamp<int64_t>(row + offset, 0, columns);
  }
  int64_t end(int64_t row) const {
    return lower ? std::clamp<int64_t>(row + offset + 1, 0, columns) : columns;
  }
};

/// out [2, n]: the local part of the rows and columns of a triangle's elements.
template <typename T, typename Context>
void triangle_indices(const Context& ctx, int rows, const TriangleColumns& triangle,
                      DenseTensor* out) {
  const Box here = ctx.output_box(0, out->dims()).box;
  const int64_t first = here.offset[1];
  const int64_t last = first + here.size[1];
  T* to = out->mutable_data<T>();
  for (int64_t r = 0, at = 0; r < rows && at < last; ++r) {
    const int64_t begin = triangle.begin(r);
    const int64_t end = triangle.end(r);
    const int64_t from = begin + std::max<int64_t>(0, first - at);
    T* part = to + at + from - begin - first;
    const int64_t count = std::min(end - from, to + here.size[1] - part);
    for (int64_t line = 0; line < here.size[0]; ++line, part += here.size[1]) {
      if (here.offset[0] + line == 0) {
        for (int64_t i = 0; i < count; ++i) part[i] = static_cast<T>(r);
      } else {
        for (int64_t i = 0; i < count; ++i) part[i] = static_cast<T>(from + i);
      }
    }
    at += std::max<int64_t>(0, end - begin);
  }
}

}  // namespace

template <typename T, typename Context>
void FullIntArrayKernel(const Context& ctx, const std::vector<int64_t>& value, DenseTensor* out) {
  const int64_t first = ctx.output_box(0, out->dims()).box.offset[0];
  std::transform(value.data() + first, value.data() + first + out->numel(), out->mutable_data<T>(),
                 [](int64_t number) { return convert_value<T>(number); });
}

/// `value` has one element, of any dtype.
template <typename T, typename Context>
void FullWithTensorKernel(const Context&, const DenseTensor& value, DenseTensor* out) {
  visit_any_dtype(value.dtype(), [&]<typename From>() {
    std::fill_n(out->mutable_data<T>(), out->numel(), convert_value<T>(*value.data<From>()));
  });
}

/// `values` has as many elements as the global tensor.
template <typename T, typename Context>
void AssignValueKernel(const Context& ctx, const std::vector<Scalar>& values, DenseTensor* out) {
  const auto all = std::make_unique_for_overwrite<T[]>(values.size());
  std::ranges::transform(values, all.get(), scalar_value<T>);
  const ShardBox here = ctx.output_box(0, out->dims());
  copy_box(all.get(), Box::whole(here.global), out->mutable_raw_data(), here.box, here.box,
           sizeof(T));
}

/// Writes ones where the global row and column are equal.
template <typename T, typename Context>
void EyeKernel(const Context& ctx, DenseTensor* out) {
  const Box here = ctx.output_box(0, out->dims()).box;
  T* to = out->mutable_data<T>();
  std::fill_n(to, out->numel(), T(0));
  for (int64_t r = 0; r < here.size[0]; ++r) {
    const int64_t c = here.offset[0] + r - here.offset[1];
    if (c >= 0 && c < here.size[1]) to[r * here.size[1] + c] = T(1);
  }
}

template <typename T, typename Context>
void LinspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, DenseTensor* out) {
  fill_spaced<T>(ctx, start, stop, out, [](double number) { return number; });
}

/// out = `base` to the power of evenly spaced numbers.
template <typename T, typename Context>
void LogspaceKernel(const Context& ctx, const Scalar& start, const Scalar& stop, const Scalar& base,
                    DenseTensor* out) {
  const auto from = static_cast<double>(scalar_value<T>(base));
  fill_spaced<T>(ctx, start, stop, out, [=](double number) { return std::pow(from, number); });
}

template <typename T, typename Context>
void TrilIndicesKernel(const Context& ctx, int rows, int cols, int offset, DenseTensor* out) {
  triangle_indices<T>(ctx, rows, {cols, offset, /*lower=*/true}, out);
}

template <typename T, typename Context>
void TriuIndicesKernel(const Context& ctx, int row, int col, int offset, DenseTensor* out) {
  triangle_indices<T>(ctx, row, {col, offset, /*lower=*/false}, out);
}

/// T is x's dtype. If max_len is negative, the last extent of y is the largest element of x, and y
/// is passed without storage.
///
/// Errors   InvalidArgument if max_len is negative and x is empty or its largest element is
///          negative.
template <typename T, typename Context>
void SequenceMaskKernel(const Context&, const DenseTensor& x, const Scalar& max_len,
                        DenseTensor* y) {
  const T* lengths = x.data<T>();
  const int64_t n = x.numel();
  auto width = max_len.to<int64_t>();
  if (width < 0) {
    PHI_CHECK(
        n > 0,
        errors::InvalidArgument(
            "max_len is {}, which requests the largest of x {}, but x is empty; pass max_len.",
            width, x.meta().to_string()));
    width = convert_value<int64_t>(*std::max_element(lengths, lengths + n));
    PHI_CHECK(width >= 0,
              errors::InvalidArgument(
                  "the largest of x {} is {}, but lengths are at least 0; pass max_len.",
                  x.meta().to_string(), width));
  }
  if (max_len.to<int64_t>() < 0) {  // otherwise the caller has allocated y
    Dims dims = x.dims();
    dims.push_back(width);
    *y = DenseTensor::empty({dims, y->dtype(), y->meta().layout}, x.place());
  }
  visit_any_dtype(y->dtype(), [&]<typename To>() {
    To* row = y->template mutable_data<To>();
    for (int64_t i = 0; i < n; ++i, row += width) {
      const auto length = std::ceil(convert_value<double>(lengths[i]));  // may be NaN
      const auto widest = static_cast<double>(width);
      const int64_t ones = length > 0 ? static_cast<int64_t>(length < widest ? length : widest) : 0;
      std::fill_n(row, ones, To(1));
      std::fill_n(row + ones, width - ones, To(0));
    }
  });
}

/// Maps an index of shard `shard_id` to its position in the shard, and all others to
/// `ignore_value`.
///
/// Errors   InvalidArgument for an index outside [0, index_num).
template <typename T, typename Context>
void ShardIndexKernel(const Context&, const DenseTensor& input, int index_num, int nshards,
                      int shard_id, int ignore_value, DenseTensor* out) {
  const int64_t size = (int64_t{index_num} + nshards - 1) / nshards;
  const int64_t first = size * shard_id;
  const T* const from = input.data<T>();
  const T* const end = from + input.numel();
  const T* const wrong =
      std::find_if(from, end, [=](int64_t index) { return index < 0 || index >= index_num; });
  PHI_CHECK(wrong == end,
            errors::InvalidArgument("input holds {} at flat position {}, but index_num is {}; it "
                                    "must be in [0, {}).",
                                    *wrong, wrong - from, index_num, index_num));
  std::transform(from, end, out->mutable_data<T>(), [=](int64_t index) {
    const bool here = index >= first && index < first + size;
    return static_cast<T>(here ? index - first : ignore_value);
  });
}

/// This and the next two kernels return values of the global tensor.
template <typename T, typename Context>
void NumelKernel(const Context& ctx, const DenseTensor& x, DenseTensor* size) {
  *size->mutable_data<int64_t>() = ctx.input_box(0, x.dims()).global.numel();
}

/// out is int32 or int64.
///
/// Errors   OutOfRange for an extent that does not fit into int32.
template <typename T, typename Context>
void ShapeKernel(const Context& ctx, const DenseTensor& input, DenseTensor* out) {
  const Dims dims = ctx.input_box(0, input.dims()).global;
  if (out->dtype() == DataType::INT64) {
    std::copy(dims.begin(), dims.end(), out->mutable_data<int64_t>());
    return;
  }
  std::transform(dims.begin(), dims.end(), out->mutable_data<int32_t>(), [&](int64_t extent) {
    PHI_CHECK(extent <= std::numeric_limits<int32_t>::max(),
              errors::OutOfRange("input has shape {}, which does not fit int32; use shape64.",
                                 dims.to_string()));
    return static_cast<int32_t>(extent);
  });
}

template <typename T, typename Context>
void IsEmptyKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  *out->mutable_data<bool>() = ctx.input_box(0, x.dims()).global.numel() == 0;
}

PHI_REGISTER_KERNEL(full_int_array, CPU, FullIntArrayKernel, EveryType);
PHI_REGISTER_KERNEL(full_with_tensor, CPU, FullWithTensorKernel, EveryType);
PHI_REGISTER_KERNEL(assign_value, CPU, AssignValueKernel, EveryType);
PHI_REGISTER_KERNEL(eye, CPU, EyeKernel, EveryType);
PHI_REGISTER_KERNEL(linspace, CPU, LinspaceKernel, Numbers);
PHI_REGISTER_KERNEL(logspace, CPU, LogspaceKernel, Numbers);
PHI_REGISTER_KERNEL(tril_indices, CPU, TrilIndicesKernel, AllIntegers);
PHI_REGISTER_KERNEL(triu_indices, CPU, TriuIndicesKernel, AllIntegers);
PHI_REGISTER_KERNEL(sequence_mask, CPU, SequenceMaskKernel, Numbers);
PHI_REGISTER_KERNEL(shard_index, CPU, ShardIndexKernel, AllIntegers);
PHI_REGISTER_KERNEL(numel, CPU, NumelKernel, EveryType);
PHI_REGISTER_KERNEL(shape, CPU, ShapeKernel, EveryType);
PHI_REGISTER_KERNEL(is_empty, CPU, IsEmptyKernel, EveryType);

}  // namespace phi
