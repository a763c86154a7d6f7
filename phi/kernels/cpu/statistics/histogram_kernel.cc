// bincount and histogram on the CPU.
#include <algorithm>
#include <cmath>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/binary.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

constexpr int64_t kMostBins = int64_t{1} << 40;

/// The number of bins that the values of x need. Errors: InvalidArgument for a value that is
/// negative, or beyond any memory.
template <typename T>
int64_t bins_for(const DenseTensor& x, int64_t at_least) {
  const T* values = x.data<T>();
  int64_t bins = at_least;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t value = values[i];
    PHI_CHECK(value >= 0 && value < kMostBins,
              errors::InvalidArgument("x holds {} at position {}, but what is counted must not be "
                                      "negative, and below {}.",
                                      value, i, kMostBins));
    bins = std::max(bins, value + 1);
  }
  return bins;
}

/// Adds weight(i) to the bin of element i.
template <typename T, typename Sum, typename Weight>
void count_values(const DenseTensor& x, int64_t bins, Sum* sums, Weight weight) {
  std::fill_n(sums, bins, Sum(0));
  const T* values = x.data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) sums[values[i]] += weight(i);
}

/// The smallest and largest value that has a bin.
template <typename C>
struct Range {
  C least;
  C most;
  bool holds(C x) const { return x >= least && x <= most; }
  /// Bins are left-closed; the last has its right end too.
  int64_t bin(C x, int64_t bins) const {
    if constexpr (std::is_integral_v<C>) {
      const double place = (static_cast<double>(x) - static_cast<double>(least)) *
                           static_cast<double>(bins) / width();
      return std::min(static_cast<int64_t>(place), bins - 1);
    } else {
      const C place = (x - least) * static_cast<C>(bins) / (most - least);
      return std::min(static_cast<int64_t>(place), bins - 1);
    }
  }
  double width() const { return static_cast<double>(most) - static_cast<double>(least); }
};

/// From min to max; from the smallest to the largest element where these are equal, one to either
/// side of it if there is only one value. Errors: InvalidArgument where that is not finite.
template <typename T>
Range<compute_t<T>> range_of(const DenseTensor& input, int min, int max) {
  using C = compute_t<T>;
  Range<C> range{static_cast<C>(min), static_cast<C>(max)};
  if (min != max) return range;
  const T* values = input.data<T>();
  if (input.numel() > 0) range = {static_cast<C>(values[0]), static_cast<C>(values[0])};
  for (int64_t i = 0; i < input.numel(); ++i) {
    const C value = static_cast<C>(values[i]);
    if constexpr (std::is_floating_point_v<C>) {
      PHI_CHECK(
          std::isfinite(value),
          errors::InvalidArgument("input holds {} at position {}, and bins from its smallest "
                                  "to its largest element need finite ones; give min and max.",
                                  value, i));
    }
    range = {std::min(range.least, value), std::max(range.most, value)};
  }
  if (range.least == range.most) {
    range = {SubtractFunctor<C>()(range.least, 1), AddFunctor<C>()(range.most, 1)};
  }
  return range;
}

template <typename T, typename Sum, typename Weight>
void fill_bins(const DenseTensor& input, const Range<compute_t<T>>& range, int64_t bins, Sum* sums,
               Weight weight) {
  using C = compute_t<T>;
  std::fill_n(sums, bins, Sum(0));
  const T* values = input.data<T>();
  for (int64_t i = 0; i < input.numel(); ++i) {
    const C value = static_cast<C>(values[i]);
    if (range.holds(value)) sums[range.bin(value, bins)] += weight(i);
  }
}

/// Sums over what they and the bins' width come to.
void make_density(double width, int64_t bins, float* sums) {
  double total = 0;
  for (int64_t b = 0; b < bins; ++b) total += sums[b];
  const double factor = static_cast<double>(bins) / width / total;
  for (int64_t b = 0; b < bins; ++b) sums[b] = static_cast<float>(sums[b] * factor);
}

}  // namespace

/// How often each of 0, 1, ... is in x, or the sum of the weights there: as many as x needs, at
/// least `minlength`. Errors: InvalidArgument for a negative value.
template <typename T, typename Context>
void BincountKernel(const Context&, const DenseTensor& x, const DenseTensor* weights,
                    const Scalar& minlength, DenseTensor* out) {
  const int64_t bins = bins_for<T>(x, minlength.to<int64_t>());
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

/// How many elements each of `bins` equal parts from min to max has, or the sum of their weights;
/// with `density` over the width of a part and the sum of all.
template <typename T, typename Context>
void HistogramKernel(const Context&, const DenseTensor& input, const DenseTensor* weight,
                     int64_t bins, int min, int max, bool density, DenseTensor* out) {
  const auto range = range_of<T>(input, min, max);
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
