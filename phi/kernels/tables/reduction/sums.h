// Sums and means. An empty `axis` is all; negative ones count from the back.
#pragma once

#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/tables/converted.h"
#include "phi/kernels/tables/sum_over.h"

namespace phi {
namespace {

// The sum of elements of T in the dtype of `out`, To, is that of their casts: these happen while
// elements are read if sums are made in To itself, or if integers only lose high bits.
template <typename T, typename To>
inline constexpr bool kCastsOnReading = std::is_same_v<T, To> || std::is_same_v<compute_t<T>, To> ||
                                        (std::is_integral_v<T> && std::is_integral_v<To> &&
                                         !std::is_same_v<To, bool>);

// Integers are summed in int64, whatever To is.
template <typename To, typename T, typename Context>
void sum_as(const Context& ctx, const T* x, const Dims& dims, AxisSet axes, DenseTensor* out) {
  using Sum = std::conditional_t<std::is_integral_v<To>, int64_t, To>;
  constexpr bool kIsSum = std::is_same_v<Sum, To>;
  DenseTensor sums =
      kIsSum ? *out : DenseTensor::empty({out->dims(), dtype_of<Sum>()}, ctx.place());
  reduce<SumReducer<To>>(ctx, x, dims, axes, sums.template mutable_data<Sum>(),
                         ConvertFunctor<Sum>());
  if constexpr (!kIsSum) convert(ctx, sums.data<Sum>(), out->mutable_data<To>(), out->numel());
}

// The number of elements of the whole tensor that one mean is of.
inline int64_t global_count(const ShardBox& where, AxisSet axes) {
  int64_t count = 1;
  for (int d = 0; d < where.global.ndim(); ++d) {
    if (axes.has(d)) count *= where.global[d];
  }
  return count;
}

inline double mean_count(const KernelContext& ctx, const DenseTensor& x, AxisSet axes) {
  return static_cast<double>(global_count(ctx.input_box(0, x.dims()), axes));
}

// Adds up `sums` over the ranks that share the reduced tensor dims.
inline void combine_sums(const KernelContext& ctx, AxisSet axes, int ndim, DenseTensor* sums) {
  for (int d = 0; ctx.view() && d < ndim; ++d) {
    if (axes.has(d)) ctx.view()->combine_over(0, d, CombineKind::kSum, sums);
  }
}

struct Quotient {
  double count;
  PHI_HD double operator()(double sum) const { return sum / count; }
};

template <typename T>
struct IntegerQuotient {
  int64_t count;  // 0: there is none
  PHI_HD T operator()(int64_t sum) const { return static_cast<T>(count == 0 ? 0 : sum / count); }
};

// Quotients of parts do not add up to that of their sum: the ranks add first, and the one that has
// the first part of what is reduced divides; the others hold 0.
template <typename T, typename Context>
void integer_mean(const Context& ctx, const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  const ShardBox where = ctx.input_box(0, x.dims());
  DenseTensor sums = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
  reduce<SumReducer<T>>(ctx, x.data<T>(), x.dims(), axes, sums.mutable_data<int64_t>(),
                        ConvertFunctor<int64_t>());
  combine_sums(ctx, axes, x.ndim(), &sums);
  bool is_first = true;
  for (int d = 0; d < x.ndim(); ++d) is_first &= !axes.has(d) || where.box.offset[d] == 0;
  const IntegerQuotient<T> quotient{is_first ? global_count(where, axes) : 0};
  unary_loop(ctx, sums.data<int64_t>(), out->mutable_data<T>(), sums.numel(), quotient);
}

}  // namespace

/// T is x's dtype; out may be of any other, which elements are cast to before they are added.
template <typename T, typename Context>
void SumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  visit_dtype(out->dtype(), [&]<typename To>() {
    const auto sum = [&](const auto* from) { sum_as<To>(ctx, from, x.dims(), axes, out); };
    if constexpr (kCastsOnReading<T, To>) {
      sum(x.data<T>());
    } else {
      const DenseTensor cast = converted<To, T>(ctx, x);
      sum(cast.data<To>());
    }
  });
}

/// Of int8 and int16, by way of int32.
template <typename T, typename Context>
void NarrowSumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                     DenseTensor* out) {
  SumKernel<int32_t>(ctx, converted<int32_t, T>(ctx, x), axis, out);
}

/// The dtype of `out` is x's.
template <typename T, typename Context>
void ComplexSumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                      DenseTensor* out) {
  sum_over(ctx, x.data<T>(), x.dims(), normalise_axes(axis, x.dims()), out->mutable_data<T>());
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
    sum_over(ctx, x.data<T>(), x.dims(), axes, out->mutable_data<T>(),
             Quotient{mean_count(ctx, x, axes)});
  }
}

/// The sum of x over the tensor dims that broadcast out's shape to x's: those that out lacks, and
/// those of size 1 in out alone. int32, int64 and bool are summed in int64.
template <typename T, typename Context>
void ReduceAsKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  const int added = x.ndim() - out->ndim();
  AxisSet axes;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d < added || out->dims()[d - added] != x.dims()[d]) axes.add(d);
  }
  using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  if (x.numel() == out->numel())
    return convert(ctx, x.data<T>(), out->mutable_data<Sum>(), x.numel());
  sum_over(ctx, x.data<T>(), x.dims(), axes, out->mutable_data<Sum>());
}

/// Of integers of 8 and 16 bits, in which their sums are, too.
template <typename T, typename Context>
void WrappingReduceAsKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  DenseTensor sums = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
  ReduceAsKernel<int32_t>(ctx, converted<int32_t, T>(ctx, x), &sums);
  convert(ctx, sums.data<int64_t>(), out->mutable_data<T>(), out->numel());
}

using Narrow = TypeList<int8_t, int16_t>;
using Wrapping = TypeList<uint8_t, int8_t, int16_t>;
using Widening = join_t<TypeList<bool>, SignedNumbers>;

PHI_REGISTER_KERNEL(sum, PHI_DEVICE, SumKernel, AllTypes);
PHI_REGISTER_KERNEL(sum, PHI_DEVICE, NarrowSumKernel, Narrow);
PHI_REGISTER_KERNEL(sum, PHI_DEVICE, ComplexSumKernel, Complexes);
PHI_REGISTER_KERNEL(mean, PHI_DEVICE, MeanKernel, SignedNumbers);
PHI_REGISTER_KERNEL(mean, PHI_DEVICE, MeanKernel, Complexes);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, ReduceAsKernel, Widening);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, WrappingReduceAsKernel, Wrapping);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, ReduceAsKernel, Complexes);

}  // namespace phi
