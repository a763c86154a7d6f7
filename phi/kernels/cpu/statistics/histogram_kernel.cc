// bincount and histogram on the CPU.
#include <algorithm>
#include <limits>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/functors/bins.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// Returns the number of bins for the values of x, at least `at_least`.
///
/// Errors   InvalidArgument for a value that is negative, or too large for any memory.
template <typename T>
int64_t bins_for(const CpuContext& ctx, const DenseTensor& x, int64_t at_least) {
  check_elements<T>(ctx, x, IsInvalidBin<T>(), {.argument = "x", .raise = throw_invalid_bin});
  if (x.numel() == 0) return at_least;
  const T* values = x.data<T>();
  return std::max<int64_t>(at_least, *std::max_element(values, values + x.numel()) + int64_t{1});
}

/// Adds weight(i) to the bin of element i.
template <typename T, typename Sum, typename Weight>
void count_values(const DenseTensor& x, int64_t bins, Sum* sums, Weight weight) {
  std::fill_n(sums, bins, Sum(0));
  const T* values = x.data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) sums[values[i]] += weight(i);
}

/// Returns the range from min to max. If these are equal, it is the range from the smallest to the
/// largest element, extended by one on both sides if they are equal too.
///
/// Errors   InvalidArgument if the range is not finite.
template <typename T>
BinRange<compute_t<T>> range_of(const CpuContext& ctx, const DenseTensor& input, int min, int max) {
  using C = compute_t<T>;
  C least = static_cast<C>(min);
  C most = static_cast<C>(max);
  if (min == max && input.numel() > 0) {
    if constexpr (!std::is_integral_v<T>) {
      check_elements<T>(ctx, input, IsNonFiniteSample<T>(),
                        {.argument = "input", .raise = throw_not_finite_bins});
    }
    const T* values = input.data<T>();
    least = most = static_cast<C>(values[0]);
    for (int64_t i = 1; i < input.numel(); ++i) {
      const C value = static_cast<C>(values[i]);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return BinRange<C>::of(least, most);
}

/// Writes the bins of n floats, -1 for none, in a vectorised loop. Returns false if an intermediate
/// result overflows, which this loop does not handle.
template <typename C>
bool find_bins(const C* values, int64_t n, const BinRange<C>& range, int32_t bins,
               int32_t* places) {
  const C least = range.least;
  const C most = range.most;
  const C count = static_cast<C>(bins);
  return run_best_isa<C>([=] {
    uint32_t overflow = 0;  // g++ 12 does not vectorise a bool
    for (int64_t i = 0; i < n; ++i) {
      const C x = values[i];
      const bool is_held = (x >= least) & (x <= most);
      const C share = is_held ? (x - least) * count / (most - least) : C(0);
      overflow |= share - share != 0 ? 1u : 0u;
      const auto place = static_cast<int32_t>(share);
      places[i] = is_held ? std::min(place, bins - 1) : -1;
    }
    return overflow == 0;
  });
}

template <typename T, typename Sum, typename Weight>
void fill_bins(const DenseTensor& input, const BinRange<compute_t<T>>& range, int64_t bins,
               Sum* sums, Weight weight) {
  using C = compute_t<T>;
  std::fill_n(sums, bins, Sum(0));
  const T* values = input.data<T>();
  const auto fill_slowly = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const C value = static_cast<C>(values[i]);
      if (range.holds(value)) sums[range.bin(value, bins)] += weight(i);
    }
  };
  if (std::is_integral_v<C> || bins > std::numeric_limits<int32_t>::max())
    return fill_slowly(0, input.numel());
  C block[kConvertBlock];
  int32_t places[kConvertBlock];
  for (int64_t begin = 0; begin < input.numel(); begin += kConvertBlock) {
    const int64_t n = std::min(kConvertBlock, input.numel() - begin);
    convert(values + begin, block, n);
    if (!find_bins(block, n, range, static_cast<int32_t>(bins), places)) {
      fill_slowly(begin, begin + n);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (places[i] >= 0) sums[places[i]] += weight(begin + i);
    }
  }
}

/// Divides the sums by their total and by the width of a bin.
void make_density(double width, int64_t bins, float* sums) {
  double total = 0;
  for (int64_t b = 0; b < bins; ++b) total += sums[b];
  const double factor = static_cast<double>(bins) / width / total;
  for (int64_t b = 0; b < bins; ++b) sums[b] = static_cast<float>(sums[b] * factor);
}

}  // namespace

/// Counts each of 0, 1, ... in x, or sums the weights of its elements. There are as many bins as x
/// needs, but at least `minlength`.
///
/// Errors   InvalidArgument for a negative value.
template <typename T, typename Context>
void BincountKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* weights,
                    const Scalar& minlength, DenseTensor* out) {
  const int64_t bins = bins_for<T>(ctx, x, minlength.to<int64_t>());
  *out = DenseTensor::empty({{bins}, out->dtype(), out->meta().layout}, x.place());
  if (!weights) {
    return count_values<T>(x, bins, out->mutable_data<int64_t>(), [](int64_t) { return 1; });
  }
  visit_dtype(weights->dtype(), [&]<typename W>() {
    const W* weight = weights->data<W>();
    const auto at = [weight](int64_t i) { return convert_value<double>(weight[i]); };
    if (out->dtype() == DataType::FLOAT32)
      return count_values<T>(x, bins, out->mutable_data<float>(), at);
    count_values<T>(x, bins, out->mutable_data<double>(), at);
  });
}

/// Counts the elements in each of `bins` equal parts from min to max, or sums their weights. With
/// `density`, the result is divided by the width of a part and by the total.
template <typename T, typename Context>
void HistogramKernel(const Context& ctx, const DenseTensor& input, const DenseTensor* weight,
                     int64_t bins, int min, int max, bool density, DenseTensor* out) {
  const auto range = range_of<T>(ctx, input, min, max);
  if (!weight && !density) {
    return fill_bins<T>(input, range, bins, out->mutable_data<int64_t>(),
                        [](int64_t) { return 1; });
  }
  auto* sums = out->mutable_data<float>();
  if (weight) {
    const T* weights = weight->data<T>();
    fill_bins<T>(input, range, bins, sums, [weights](int64_t i) {
      return static_cast<float>(static_cast<compute_t<T>>(weights[i]));
    });
  } else {
    fill_bins<T>(input, range, bins, sums, [](int64_t) { return 1.0f; });
  }
  if (density) make_density(range.width(), bins, sums);
}

PHI_REGISTER_KERNEL(bincount, CPU, BincountKernel, SignedIntegers);
PHI_REGISTER_KERNEL(histogram, CPU, HistogramKernel, SignedNumbers);

}  // namespace phi
