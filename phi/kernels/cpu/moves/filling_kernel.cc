// CPU kernels that fill arrays with values that attributes say. Each writes the part of the global
// tensor that is here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/filling.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/scalar_value.h"

namespace phi {
namespace {

/// `count` numbers evenly spaced from start to stop, each counted from the nearer end.
template <typename T>
class Spacing {
 public:
  Spacing(const Scalar& start, const Scalar& stop, int64_t count)
      : start_(static_cast<double>(scalar_value<T>(start))),
        stop_(static_cast<double>(scalar_value<T>(stop))),
        count_(count),
        step_(count > 1 ? (stop_ - start_) / static_cast<double>(count - 1) : 0) {}

  /// f(i, number first + i) for i from 0 to below n.
  template <typename F>
  void for_each(int64_t first, int64_t n, F f) const {
    const int64_t near = std::clamp<int64_t>(std::max<int64_t>(count_ / 2, 1) - first, 0, n);
    run_widest<double>([=, *this] {
      count_on(start_, first, 0, near, f);
      count_on(stop_, first - (count_ - 1), near, n, f);
    });
  }

 private:
  /// f(i, from + (first + i) steps) for i from `begin` to below `end`. Blocks are counted by int,
  /// of which there are vectors as numbers.
  template <typename F>
  void count_on(double from, int64_t first, int64_t begin, int64_t end, F f) const {
    constexpr int64_t kBlock = 1024;
    for (int64_t b = begin; b < end; b += kBlock) {
      const auto base = static_cast<double>(first + b);
      const auto count = static_cast<int>(std::min(kBlock, end - b));
      for (int i = 0; i < count; ++i) f(b + i, from + step_ * (base + i));
    }
  }

  double start_;
  double stop_;
  int64_t count_;
  double step_;
};

/// out = f of evenly spaced numbers.
template <typename T, typename Context, typename F>
void fill_spaced(const Context& ctx, const Scalar& start, const Scalar& stop, DenseTensor* out,
                 F f) {
  const ShardBox here = ctx.output_box(0, out->dims());
  T* to = out->mutable_data<T>();
  Spacing<T>(start, stop, here.global[0])
      .for_each(here.box.offset[0], out->numel(),
                [=](int64_t i, double number) { to[i] = convert_value<T>(f(number)); });
}

/// The elements (r, c) with c - r <= offset, or >= offset, in rows: which columns of a row.
struct Triangle {
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

/// out [2, n]: the rows and columns of the elements of a triangle, as much of both as is here.
template <typename T, typename Context>
void triangle_indices(const Context& ctx, int rows, const Triangle& triangle, DenseTensor* out) {
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

/// value has one element, of any dtype.
template <typename T, typename Context>
void FullWithTensorKernel(const Context&, const DenseTensor& value, DenseTensor* out) {
  visit_any_dtype(value.dtype(), [&]<typename From>() {
    std::fill_n(out->mutable_data<T>(), out->numel(), convert_value<T>(*value.data<From>()));
  });
}

/// As many values as the global tensor has elements.
template <typename T, typename Context>
void AssignValueKernel(const Context& ctx, const std::vector<Scalar>& values, DenseTensor* out) {
  const auto all = std::make_unique_for_overwrite<T[]>(values.size());
  std::ranges::transform(values, all.get(), scalar_value<T>);
  const ShardBox here = ctx.output_box(0, out->dims());
  copy_box(all.get(), Box::whole(here.global), out->mutable_raw_data(), here.box, here.box,
           sizeof(T));
}

/// Ones where row and column have one number.
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

/// `base` to the power of evenly spaced numbers.
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

/// T is x's dtype. y comes without bytes: its last extent is the largest of x where max_len is
/// negative. Errors: InvalidArgument where there is no largest, or it is negative.
template <typename T, typename Context>
void SequenceMaskKernel(const Context&, const DenseTensor& x, const Scalar& max_len,
                        DenseTensor* y) {
  const T* lengths = x.data<T>();
  const int64_t n = x.numel();
  auto width = max_len.to<int64_t>();
  if (width < 0) {
    PHI_CHECK(n > 0, errors::InvalidArgument("max_len is {}, which asks for the largest of x {}, "
                                             "but x is empty; give max_len.",
                                             width, x.meta().to_string()));
    width = convert_value<int64_t>(*std::max_element(lengths, lengths + n));
    PHI_CHECK(width >= 0, errors::InvalidArgument("the largest of x {} is {}, but lengths are at "
                                                  "least 0; give max_len.",
                                                  x.meta().to_string(), width));
  }
  if (max_len.to<int64_t>() < 0) {  // else it is made by whoever launches this
    Dims dims = x.dims();
    dims.push_back(width);
    *y = DenseTensor::empty({dims, y->dtype(), y->meta().layout}, x.place());
  }
  visit_any_dtype(y->dtype(), [&]<typename To>() {
    To* row = y->template mutable_data<To>();
    for (int64_t i = 0; i < n; ++i, row += width) {
      const double length = convert_value<double>(lengths[i]);
      for (int64_t j = 0; j < width; ++j) row[j] = To(static_cast<double>(j) < length ? 1 : 0);
    }
  });
}

/// An index of shard `shard_id` counted from the shard's first one, `ignore_value` for all others.
/// Errors: InvalidArgument for one that is not below index_num.
template <typename T, typename Context>
void ShardIndexKernel(const Context&, const DenseTensor& input, int index_num, int nshards,
                      int shard_id, int ignore_value, DenseTensor* out) {
  const int64_t size = (int64_t{index_num} + nshards - 1) / nshards;
  const int64_t first = size * shard_id;
  const T* from = input.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < input.numel(); ++i) {
    const int64_t index = from[i];
    PHI_CHECK(index >= 0 && index < index_num,
              errors::InvalidArgument("input holds {} at flat position {}, but index_num is {}; it "
                                      "must be in [0, {}).",
                                      index, i, index_num, index_num));
    const bool here = index >= first && index < first + size;
    to[i] = static_cast<T>(here ? index - first : ignore_value);
  }
}

/// Of the global tensor, as are the next two.
template <typename T, typename Context>
void NumelKernel(const Context& ctx, const DenseTensor& x, DenseTensor* size) {
  *size->mutable_data<int64_t>() = ctx.input_box(0, x.dims()).global.numel();
}

/// out is int32 or int64. Errors: OutOfRange for an extent that does not fit.
template <typename T, typename Context>
void ShapeKernel(const Context& ctx, const DenseTensor& input, DenseTensor* out) {
  const Dims dims = ctx.input_box(0, input.dims()).global;
  if (out->dtype() == DataType::INT64) {
    std::copy(dims.begin(), dims.end(), out->mutable_data<int64_t>());
    return;
  }
  std::transform(dims.begin(), dims.end(), out->mutable_data<int32_t>(), [&](int64_t extent) {
    PHI_CHECK(extent <= std::numeric_limits<int32_t>::max(),
              errors::OutOfRange("input has shape {}, which int32 does not hold; use shape64.",
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
