// Reductions on the CPU. An empty `axis` is all; negative ones count from the back.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

// The sum of elements of T in the dtype of `out`, To, is that of their casts: these happen while
// elements are read if both are computed in one type, or if integers only lose high bits.
template <typename T, typename To>
inline constexpr bool kCastsOnReading = std::is_same_v<compute_t<T>, compute_t<To>> ||
                                        (std::is_integral_v<T> && std::is_integral_v<To> &&
                                         !std::is_same_v<To, bool>);

// All integers are summed alike.
template <typename To>
using SumReducerFor =
    SumReducer<std::conditional_t<std::is_integral_v<To>, int64_t, compute_t<To>>>;

// The number of elements of the whole tensor that one mean is of.
int64_t global_count(const ShardBox& where, AxisSet axes) {
  int64_t count = 1;
  for (int d = 0; d < where.global.ndim(); ++d) {
    if (axes.has(d)) count *= where.global[d];
  }
  return count;
}

double mean_count(const KernelContext& ctx, const DenseTensor& x, AxisSet axes) {
  return static_cast<double>(global_count(ctx.input_box(0, x.dims()), axes));
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
  reduce_loop<SumReducer<T>>(x.data<T>(), x.dims(), axes, StoreTo(sums.mutable_data<int64_t>()));
  combine_sums(ctx, axes, x.ndim(), &sums);
  bool is_first = true;
  for (int d = 0; d < x.ndim(); ++d) is_first &= !axes.has(d) || where.box.offset[d] == 0;
  const int64_t count = global_count(where, axes);
  const auto totals = std::span(sums.data<int64_t>(), static_cast<size_t>(sums.numel()));
  std::transform(totals.begin(), totals.end(), out->mutable_data<T>(),
                 [=](int64_t total) { return static_cast<T>(is_first ? total / count : 0); });
}

// Sums of complex numbers by `count` are those of their parts, which are a tensor dim more.
template <typename T>
void complex_sums(const DenseTensor& x, AxisSet axes, double count, DenseTensor* out) {
  using Part = typename T::value_type;
  Dims parts = x.dims();
  parts.push_back(2);
  auto* to = reinterpret_cast<Part*>(out->mutable_data<T>());
  reduce_loop<SumReducer<Part>>(reinterpret_cast<const Part*>(x.data<T>()), parts, axes,
                                [=](int64_t first, const double* sums, int64_t n) {
                                  for (int64_t i = 0; i < n; ++i) {
                                    to[first + i] = static_cast<Part>(sums[i] / count);
                                  }
                                });
}

// The sum of squares of n numbers: lanes in double, which hold the square of any float.
template <typename C>
double squared_row(const C* x, int64_t n) {
  return row_sum<double>(n, [x](int64_t i) {
    const auto value = static_cast<double>(x[i]);
    return value * value;
  });
}

}  // namespace

/// T is x's dtype; out may be of any other, which elements are cast to before they are added.
template <typename T, typename Context>
void SumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  visit_dtype(out->dtype(), [&]<typename To>() {
    using Reducer = SumReducerFor<To>;
    const StoreTo store(out->mutable_data<To>());
    if constexpr (kCastsOnReading<T, To>) {
      reduce_loop<Reducer>(x.data<T>(), x.dims(), axes, store);
    } else {
      using C = compute_t<To>;
      DenseTensor cast = DenseTensor::empty({x.dims(), dtype_of<C>()}, ctx.place());
      convert(x.data<T>(), cast.mutable_data<C>(), x.numel());
      reduce_loop<Reducer>(cast.data<C>(), x.dims(), axes, store);
    }
  });
}

/// The dtype of `out` is x's.
template <typename T, typename Context>
void ComplexSumKernel(const Context&, const DenseTensor& x, const IntArray& axis,
                      DenseTensor* out) {
  complex_sums<T>(x, normalise_axes(axis, x.dims()), 1.0, out);
}

/// The local sum over the *global* number of elements, so that the results of the ranks that hold
/// parts of x add up to the mean. Means of integers lose their fraction; the ranks that share what
/// is reduced add up their sums, and one of them holds the mean.
template <typename T, typename Context>
void MeanKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  if constexpr (std::is_integral_v<T>) {
    integer_mean<T>(ctx, x, axes, out);
  } else if constexpr (kIsComplex<T>) {
    complex_sums<T>(x, axes, mean_count(ctx, x, axes), out);
  } else {
    const double count = mean_count(ctx, x, axes);
    const StoreTo store(out->mutable_data<T>());
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
  if constexpr (kIsComplex<T>) {
    complex_sums<T>(x, axes, 1.0, out);
  } else {
    reduce_loop<SumReducer<T>>(x.data<T>(), x.dims(), axes, StoreTo(out->mutable_data<T>()));
  }
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
  using Out = std::conditional_t<std::is_same_v<T, double>, double, float>;
  *out->mutable_data<Out>() = static_cast<Out>(sum);
}

PHI_REGISTER_KERNEL(sum, CPU, SumKernel, AllTypes);
PHI_REGISTER_KERNEL(sum, CPU, ComplexSumKernel, Complexes);
PHI_REGISTER_KERNEL(mean, CPU, MeanKernel, SignedNumbers);
PHI_REGISTER_KERNEL(mean, CPU, MeanKernel, Complexes);
PHI_REGISTER_DRY_KERNEL(mean, MeanDry, SignedIntegers);
PHI_REGISTER_KERNEL(reduce_as, CPU, ReduceAsKernel, SignedNumbers);
PHI_REGISTER_KERNEL(reduce_as, CPU, ReduceAsKernel, Complexes);
PHI_REGISTER_KERNEL(squared_l2_norm, CPU, SquaredL2NormKernel, Floats);

}  // namespace phi
