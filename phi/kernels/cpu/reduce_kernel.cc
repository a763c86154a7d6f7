// Reductions on the CPU. An empty `axis` is all; negative ones count from the back.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

// Writes runs of accumulated values, converted, to an array of any dtype.
class Store {
 public:
  explicit Store(DenseTensor* out) : out_(out) {}
  template <typename Acc>
  void operator()(int64_t first, const Acc* values, int64_t count) const {
    visit_dtype(out_->dtype(),
                [&]<typename To>() { convert(values, out_->mutable_data<To>() + first, count); });
  }

 private:
  DenseTensor* out_;
};

// The sum of elements of T in the dtype of `out`, To, is that of their casts: these happen while
// elements are read if sums are made in To itself, or if integers only lose high bits.
template <typename T, typename To>
inline constexpr bool kCastsOnReading = std::is_same_v<T, To> || std::is_floating_point_v<To> ||
                                        (std::is_integral_v<T> && std::is_integral_v<To> &&
                                         !std::is_same_v<To, bool>);

// All integers are summed alike.
template <typename To>
using SumReducerFor = SumReducer<std::conditional_t<std::is_integral_v<To>, int64_t, To>>;

// The number of elements of the whole tensor that one mean is of.
int64_t global_count(const ShardBox& where, AxisSet axes) {
  int64_t count = 1;
  for (int d = 0; d < where.global.ndim(); ++d) {
    if (axes.has(d)) count *= where.global[d];
  }
  return count;
}

// Adds up `sums` over the ranks that share the reduced tensor dims.
void combine_sums(const KernelContext& ctx, AxisSet axes, int ndim, DenseTensor* sums) {
  for (int d = 0; ctx.view() && d < ndim; ++d) {
    if (axes.has(d)) ctx.view()->combine_over(0, d, CombineKind::kSum, sums);
  }
}

// Quotients of parts do not add up to that of their sum: the ranks add first, and the one that has
// the first part of what is reduced divides; the others hold 0.
template <typename T>
void integer_mean(const KernelContext& ctx, const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  const ShardBox where = ctx.input_box(0, x.dims());
  DenseTensor sums = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
  reduce_loop<SumReducer<T>>(x.data<T>(), x.dims(), axes, Store(&sums));
  combine_sums(ctx, axes, x.ndim(), &sums);
  bool is_first = true;
  for (int d = 0; d < x.ndim(); ++d) is_first &= !axes.has(d) || where.box.offset[d] == 0;
  const int64_t count = global_count(where, axes);
  const auto totals = std::span(sums.data<int64_t>(), static_cast<size_t>(sums.numel()));
  std::transform(totals.begin(), totals.end(), out->mutable_data<T>(),
                 [=](int64_t total) { return static_cast<T>(is_first ? total / count : 0); });
}

// The sum of squares of n numbers: lanes in double, which hold the square of any float.
template <typename C>
double squared_row(const C* x, int64_t n) {
  return row_sum<double>(n, [x](int64_t i) {
    const auto value = static_cast<double>(x[i]);
    return value * value;
  });
}

// The first index of the largest element of a row, or of its first NaN.
template <typename T>
int64_t argmax_row(const T* x, int64_t n) {
  using C = compute_t<T>;
  const C best = detail::reduce_row<MaxReducer<T>>(x, n, MaxReducer<T>::kIdentity);
  if (best != best) return std::find_if(x, x + n, [](T v) { return C(v) != C(v); }) - x;
  return std::find_if(x, x + n, [best](T v) { return C(v) == best; }) - x;
}

// The best element so far of each column of a tile, and its row.
template <typename T>
void argmax_columns(const T* x, int64_t rows, int64_t row_stride, int64_t columns, int64_t* index) {
  using C = compute_t<T>;
  C best[detail::kColumnTile];
  for (int64_t c = 0; c < columns; ++c) {
    best[c] = static_cast<C>(x[c]);
    index[c] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const C value = static_cast<C>(x[r * row_stride + c]);
      const bool better = !(value <= best[c]) && best[c] == best[c];  // the first NaN stays
      best[c] = better ? value : best[c];
      index[c] = better ? r : index[c];
    }
  }
}

}  // namespace

/// T is x's dtype; out may be of any other, which elements are cast to before they are added.
template <typename T, typename Context>
void SumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  visit_dtype(out->dtype(), [&]<typename To>() {
    using Reducer = SumReducerFor<To>;
    if constexpr (kCastsOnReading<T, To>) {
      reduce_loop<Reducer>(x.data<T>(), x.dims(), axes, Store(out));
    } else {
      DenseTensor cast = DenseTensor::empty({x.dims(), out->dtype()}, ctx.place());
      convert(x.data<T>(), cast.mutable_data<To>(), x.numel());
      reduce_loop<Reducer>(cast.data<To>(), x.dims(), axes, Store(out));
    }
  });
}

/// The local sum over the *global* number of elements, so that the results of the ranks that hold
/// parts of x add up to the mean. Means of integers lose their fraction; the ranks that share what
/// is reduced add up their sums, and one of them holds the mean.
template <typename T, typename Context>
void MeanKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  if constexpr (std::is_integral_v<T>) {
    integer_mean<T>(ctx, x, axes, out);
  } else {
    const auto count = static_cast<double>(global_count(ctx.input_box(0, x.dims()), axes));
    const Store store(out);
    reduce_loop<SumReducer<T>>(x.data<T>(), x.dims(), axes,
                               [&](int64_t first, double* values, int64_t n) {
                                 for (int64_t i = 0; i < n; ++i) values[i] /= count;
                                 store(first, values, n);
                               });
  }
}

// The messages of integer_mean.
template <typename T, typename Context>
void MeanDry(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  DenseTensor sums = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
  combine_sums(ctx, normalise_axes(axis, x.dims()), x.ndim(), &sums);
}

/// NaN wins; -inf (the lowest integer) where there is nothing to reduce, as in an empty shard.
template <typename T, typename Context>
void MaxKernel(const Context&, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  reduce_loop<MaxReducer<T>>(x.data<T>(), x.dims(), normalise_axes(axis, x.dims()), Store(out));
}

/// The sum of x over the tensor dims that broadcast out's shape to x's: those that out lacks, and
/// those of size 1 in out alone.
template <typename T, typename Context>
void ReduceAsKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int added = x.ndim() - out->ndim();
  AxisSet axes;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d < added || out->dims()[d - added] != x.dims()[d]) axes.add(d);
  }
  if (x.numel() == out->numel()) return convert(x.data<T>(), out->mutable_data<T>(), x.numel());
  reduce_loop<SumReducer<T>>(x.data<T>(), x.dims(), axes, Store(out));
}

/// The sum of squares, in float64 until it is stored: out is float32, or float64 for double.
template <typename T, typename Context>
void SquaredL2NormKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  const int64_t n = x.numel();
  double sum = 0;
  if constexpr (kIs16Bit<T>) {
    float buffer[kConvertBlock];
    for (int64_t i = 0; i < n; i += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - i);
      convert(from + i, buffer, count);
      sum += squared_row(buffer, count);
    }
  } else {
    sum = squared_row(from, n);
  }
  const Store store(out);
  store(0, &sum, 1);
}

/// The first index of the largest element (of the first NaN, if any); out is int32 or int64.
template <typename T, typename Context>
void ArgMaxKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  if (x.numel() == 0) return;
  int64_t outer = 1;
  int64_t rows = x.numel();
  int64_t columns = 1;
  if (!flatten && x.ndim() > 0) {
    const int d = normalise_axis(axis.to<int64_t>(), x.ndim(), x.dims());
    outer = x.dims().numel(0, d);
    rows = x.dims()[d];
    columns = x.dims().numel(d + 1, x.ndim());
  }
  const T* from = x.data<T>();
  const Store store(out);
  int64_t index[detail::kColumnTile];
  for (int64_t o = 0; o < outer; ++o) {
    if (columns == 1) {
      index[0] = argmax_row(from + o * rows, rows);
      store(o, index, 1);
      continue;
    }
    for (int64_t c = 0; c < columns; c += detail::kColumnTile) {
      const int64_t count = std::min(detail::kColumnTile, columns - c);
      argmax_columns(from + o * rows * columns + c, rows, columns, count, index);
      store(o * columns + c, index, count);
    }
  }
}

PHI_REGISTER_KERNEL(sum, CPU, SumKernel, AllTypes);
PHI_REGISTER_KERNEL(mean, CPU, MeanKernel, SignedNumbers);
PHI_REGISTER_DRY_KERNEL(mean, MeanDry, SignedIntegers);
PHI_REGISTER_KERNEL(max, CPU, MaxKernel, AllTypes);
PHI_REGISTER_KERNEL(reduce_as, CPU, ReduceAsKernel, SignedNumbers);
PHI_REGISTER_KERNEL(squared_l2_norm, CPU, SquaredL2NormKernel, Floats);
PHI_REGISTER_KERNEL(argmax, CPU, ArgMaxKernel, Numbers);

}  // namespace phi
