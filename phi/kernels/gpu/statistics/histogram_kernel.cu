// bincount and histogram on GPUs. Counts use integer atomics. Weights are added in the order of
// their elements, as on the CPU.
#include <algorithm>

#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/functors/bins.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/gpu/value_on_host.h"

namespace phi {
namespace {

/// Adds to counts[bin] the number of places that select it. Negative places select none.
__global__ void count_places(const int64_t* places, int64_t n, unsigned long long* counts) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    if (places[i] >= 0) atomicAdd(&counts[places[i]], 1ull);
  }
}

void count(const GpuContext& ctx, const DenseTensor& places, DenseTensor* out) {
  auto* counts = out->mutable_data<int64_t>();
  fill(ctx, counts, out->numel(), int64_t{0});
  const int64_t n = places.numel();
  if (n == 0 || out->numel() == 0) return;
  gpu::launch(ctx, count_places, gpu::blocks_for(ctx, n), gpu::kBlock, places.data<int64_t>(), n,
              reinterpret_cast<unsigned long long*>(counts));
}

/// The sum of a bin's weights, rounded after each addition.
template <typename Sum, typename Weight>
struct SumOfBin {
  const int64_t* begins;
  const int64_t* positions;
  const Weight* weights;
  PHI_HD Sum operator()(int64_t bin) const {
    Sum sum = 0;
    for (int64_t k = begins[bin]; k < begins[bin + 1]; ++k) {
      sum = static_cast<Sum>(sum + weights[positions[k]]);
    }
    return sum;
  }
};

template <typename Sum, typename Weight>
void add_weights(const GpuContext& ctx, const DenseTensor& places, const Weight* weights,
                 DenseTensor* out) {
  const int64_t bins = out->numel();
  if (bins == 0) return;
  const auto named = gpu::positions_by_slice(ctx, places, bins);
  index_loop(ctx, out->mutable_data<Sum>(), bins,
             SumOfBin<Sum, Weight>{named.first(), named.of(), weights});
}

/// The bin of an element. The range of bins stays on the GPU, because it may depend on the
/// elements.
template <typename T>
struct BinOf {
  using C = compute_t<T>;
  const T* x;
  const C* least;
  const C* most;
  int64_t bins;
  PHI_HD int64_t operator()(int64_t i) const {
    const BinRange<C> range = BinRange<C>::of(*least, *most);
    const auto value = static_cast<C>(x[i]);
    return range.holds(value) ? range.bin(value, bins) : -1;
  }
};

/// Returns [lower, upper] of the bins: min and max, or the extremes of the elements.
template <typename T>
DenseTensor bounds_of(const GpuContext& ctx, const DenseTensor& input, int min, int max) {
  using C = compute_t<T>;
  DenseTensor bounds = DenseTensor::empty({{2}, dtype_of<C>()}, ctx.place());
  C* const to = bounds.mutable_data<C>();
  if (min != max || input.numel() == 0) {
    fill(ctx, to, 1, static_cast<C>(min));
    fill(ctx, to + 1, 1, static_cast<C>(max));
    return bounds;
  }
  if constexpr (!std::is_integral_v<T>) {
    check_elements<T>(ctx, input, IsNonFiniteSample<T>(),
                      {.argument = "input", .raise = throw_not_finite_bins});
  }
  reduce_all<MinReducer<T>>(ctx, input.data<T>(), input.numel(), to);
  reduce_all<MaxReducer<T>>(ctx, input.data<T>(), input.numel(), to + 1);
  return bounds;
}

/// Density: a bin's sum divided by the total and the bin width.
template <typename C>
struct DensityOf {
  const float* sums;
  const double* total;
  const C* least;
  const C* most;
  int64_t bins;
  PHI_HD float operator()(int64_t b) const {
    const double width = BinRange<C>::of(*least, *most).width();
    return static_cast<float>(sums[b] * (static_cast<double>(bins) / width / *total));
  }
};

template <typename C>
void make_density(const GpuContext& ctx, const DenseTensor& bounds, DenseTensor* out) {
  DenseTensor total = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  auto* sums = out->mutable_data<float>();
  reduce_all<SumReducer<double>>(ctx, sums, out->numel(), total.mutable_data<double>());
  const C* range = bounds.data<C>();
  index_loop(ctx, sums, out->numel(),
             DensityOf<C>{sums, total.data<double>(), range, range + 1, out->numel()});
}

}  // namespace

/// Same contract as on the CPU. The host synchronises with the GPU for the largest value.
template <typename T, typename Context>
void BincountKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* weights,
                    const Scalar& minlength, DenseTensor* out) {
  auto bins = minlength.to<int64_t>();
  const int64_t n = x.numel();
  DenseTensor places = DenseTensor::empty({{n}, DataType::INT64}, ctx.place());
  if (n > 0) {
    check_elements<T>(ctx, x, IsInvalidBin<T>(), {.argument = "x", .raise = throw_invalid_bin});
    convert(ctx, x.data<T>(), places.mutable_data<int64_t>(), n);
    DenseTensor most = DenseTensor::empty({{}, DataType::INT64}, ctx.place());
    reduce_all<MaxReducer<T>>(ctx, x.data<T>(), n, most.mutable_data<int64_t>());
    bins = std::max(bins, gpu::value_on_host<int64_t>(most) + 1);
  }
  *out = DenseTensor::empty({{bins}, out->dtype(), out->meta().layout}, ctx.place());
  if (!weights) return count(ctx, places, out);
  DenseTensor wide = DenseTensor::empty({{n}, DataType::FLOAT64}, ctx.place());
  visit_dtype(weights->dtype(), [&]<typename W>() {
    convert(ctx, weights->data<W>(), wide.mutable_data<double>(), n);
  });
  if (out->dtype() == DataType::FLOAT32) {
    return add_weights<float>(ctx, places, wide.data<double>(), out);
  }
  add_weights<double>(ctx, places, wide.data<double>(), out);
}

template <typename T, typename Context>
void HistogramKernel(const Context& ctx, const DenseTensor& input, const DenseTensor* weight,
                     int64_t bins, int min, int max, bool density, DenseTensor* out) {
  using C = compute_t<T>;
  const int64_t n = input.numel();
  const DenseTensor bounds = bounds_of<T>(ctx, input, min, max);
  const C* range = bounds.data<C>();
  DenseTensor places = DenseTensor::empty({{n}, DataType::INT64}, ctx.place());
  index_loop(ctx, places.mutable_data<int64_t>(), n,
             BinOf<T>{input.data<T>(), range, range + 1, bins});
  if (!weight && !density) return count(ctx, places, out);
  DenseTensor weights = DenseTensor::empty({{n}, DataType::FLOAT32}, ctx.place());
  if (weight) {
    convert(ctx, weight->data<T>(), weights.mutable_data<float>(), n);
  } else {
    fill(ctx, weights.mutable_data<float>(), n, 1.0f);
  }
  add_weights<float>(ctx, places, weights.data<float>(), out);
  if (density) make_density<C>(ctx, bounds, out);
}

PHI_REGISTER_KERNEL(bincount, GPU, BincountKernel, SignedIntegers);
PHI_REGISTER_KERNEL(histogram, GPU, HistogramKernel, SignedNumbers);

}  // namespace phi
