// Sums and means. An empty `axis` means all tensor dims; a negative one counts from the end.
#pragma once

#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/templates/converted.h"
#include "phi/kernels/templates/sum_over.h"

namespace phi {
namespace {

// A sum in another dtype To is the sum of the elements cast to To. The cast happens while elements
// are read if sums are kept in To, or if it only drops high bits of integers.
template <typename T, typename To>
inline constexpr bool kCastsOnReading = std::is_same_v<T, To> || std::is_same_v<compute_t<T>, To> ||
                                        (std::is_integral_v<T> && std::is_integral_v<To> &&
                                         !std::is_same_v<To, bool>);

// Integers are summed in int64 for every To.
template <typename To, typename T, typename Context>
void sum_as(const Context& ctx, const T* x, const Dims& dims, AxisSet axes, DenseTensor* out) {
  using Sum = std::conditional_t<std::is_integral_v<To>, int64_t, To>;
  constexpr bool kIsSum = std::is_same_v<Sum, To>;
  DenseTensor sums = kIsSum ? *out : scratch_array({out->dims(), dtype_of<Sum>()}, ctx.place());
  reduce<SumReducer<To>>(ctx, x, dims, axes, sums.template mutable_data<Sum>(),
                         ConvertFunctor<Sum>());
  if constexpr (!kIsSum) convert(ctx, sums.data<Sum>(), out->mutable_data<To>(), out->numel());
}

// The number of elements of the global tensor per mean.
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

// Adds `sums` over the ranks that share the reduced tensor dims.
inline void combine_sums(const KernelContext& ctx, AxisSet axes, int ndim, DenseTensor* sums) {
  for (int d = 0; ctx.view() && d < ndim; ++d) {
    if (axes.has(d)) ctx.view()->combine_over(0, d, CombineKind::kSum, sums);
  }
}

struct MeanFunctor {
  double count;
  PHI_HD double operator()(double sum) const { return sum / count; }
};

template <typename T>
struct IntegerMeanQuotient {
  int64_t count;  // 0: the result is 0
  PHI_HD T operator()(int64_t sum) const { return static_cast<T>(count == 0 ? 0 : sum / count); }
};

// Truncated quotients of parts do not add up to the quotient of the sum. The ranks therefore add
// their sums first. The rank with the first part of the reduced dims divides; others hold 0.
template <typename T, typename Context>
void integer_mean(const Context& ctx, const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  const ShardBox where = ctx.input_box(0, x.dims());
  DenseTensor sums = scratch_array({out->dims(), DataType::INT64}, ctx.place());
  reduce<SumReducer<T>>(ctx, x.data<T>(), x.dims(), axes, sums.mutable_data<int64_t>(),
                        ConvertFunctor<int64_t>());
  combine_sums(ctx, axes, x.ndim(), &sums);
  bool is_first = true;
  for (int d = 0; d < x.ndim(); ++d) is_first &= !axes.has(d) || where.box.offset[d] == 0;
  const IntegerMeanQuotient<T> quotient{is_first ? global_count(where, axes) : 0};
  unary_loop(ctx, sums.data<int64_t>(), out->mutable_data<T>(), sums.numel(), quotient);
}

}  // namespace

/// T is x's dtype. out may have any dtype; elements are cast to it before they are added.
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

/// For int8 and int16, through int32.
template <typename T, typename Context>
void NarrowSumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                     DenseTensor* out) {
  SumKernel<int32_t>(ctx, converted<int32_t, T>(ctx, x), axis, out);
}

/// For complex x; out has x's dtype.
template <typename T, typename Context>
void ComplexSumKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                      DenseTensor* out) {
  sum_over(ctx, x.data<T>(), x.dims(), normalise_axes(axis, x.dims()), out->mutable_data<T>());
}

/// The local sum divided by the *global* number of elements, so that the results of the ranks that
/// hold shards of x add up to the mean. Means of integers are truncated: the ranks that share the
/// reduced dims add their sums, and one of them holds the mean.
template <typename T, typename Context>
void MeanKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  const AxisSet axes = normalise_axes(axis, x.dims());
  if constexpr (std::is_integral_v<T>) {
    integer_mean<T>(ctx, x, axes, out);
  } else {
    sum_over(ctx, x.data<T>(), x.dims(), axes, out->mutable_data<T>(),
             MeanFunctor{mean_count(ctx, x, axes)});
  }
}

/// The sum of x over the tensor dims along which out's shape is broadcast to x's. int32, int64 and
/// bool are summed in int64.
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

/// For 8-bit and 16-bit integers, whose sums have the same dtype.
template <typename T, typename Context>
void WrappingReduceAsKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  DenseTensor sums = scratch_array({out->dims(), DataType::INT64}, ctx.place());
  ReduceAsKernel<int32_t>(ctx, converted<int32_t, T>(ctx, x), &sums);
  convert(ctx, sums.data<int64_t>(), out->mutable_data<T>(), out->numel());
}

using NarrowSumTypes = TypeList<int8_t, int16_t>;
using WrappingSumTypes = TypeList<uint8_t, int8_t, int16_t>;
using WideningSumTypes = join_t<TypeList<bool>, SignedNumbers>;

PHI_REGISTER_KERNEL(sum, PHI_DEVICE, SumKernel, AllTypes);
PHI_REGISTER_KERNEL(sum, PHI_DEVICE, NarrowSumKernel, NarrowSumTypes);
PHI_REGISTER_KERNEL(sum, PHI_DEVICE, ComplexSumKernel, Complexes);
PHI_REGISTER_KERNEL(mean, PHI_DEVICE, MeanKernel, SignedNumbers);
PHI_REGISTER_KERNEL(mean, PHI_DEVICE, MeanKernel, Complexes);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, ReduceAsKernel, WideningSumTypes);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, WrappingReduceAsKernel, WrappingSumTypes);
PHI_REGISTER_KERNEL(reduce_as, PHI_DEVICE, ReduceAsKernel, Complexes);

}  // namespace phi
