// Random choices on GPUs: multinomial, randperm, class_center_sample. An item's draw depends on the
// seed and on its index in the global tensor, as on the CPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "phi/common/errors.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/functors/choice_errors.h"
#include "phi/kernels/functors/random_draws.h"
#include "phi/kernels/functors/random_permutation.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/partition_point.h"
#include "phi/kernels/gpu/scan/prefix_sums.h"
#include "phi/kernels/gpu/sort/order_lines.h"

namespace phi {
namespace {

/// Sort key of a class that cannot be chosen. Other classes have a waiting time; NaN comes last.
constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

/// Prefix sums of each row, in the order in which the CPU adds.
__global__ void add_up_rows(const double* weights, int64_t rows, int64_t classes, double* sums) {
  for (int64_t row = gpu::first_item(); row < rows; row += gpu::item_stride()) {
    double sum = 0;
    for (int64_t c = row * classes; c < (row + 1) * classes; ++c) {
      sum += weights[c];
      sums[c] = sum;
    }
  }
}

/// Draws one class per sample, with replacement.
struct ChooseFreely {
  const double* sums;
  int64_t classes;
  int64_t samples;
  int64_t first;  // global index of the first sample
  PhiloxKey key;
  PHI_HD int64_t operator()(int64_t i) const {
    const double* own = sums + i / samples * classes;
    const double all = own[classes - 1];
    // Rounding may have reached the total, past which there are only classes without weight.
    const int64_t last = gpu::partition_point(classes - 1, [&](int64_t c) { return own[c] < all; });
    ElementWords words(static_cast<uint64_t>(first + i), RandomUse::kMultinomial, key);
    const double wanted = words.unit() * all;
    return gpu::partition_point(last, [&](int64_t c) { return own[c] <= wanted; });
  }
};

/// An exponential waiting time for each class with a positive weight.
struct WaitingTime {
  const double* weights;
  int64_t first;  // global index of the first class
  PhiloxKey key;
  PHI_HD double operator()(int64_t i) const {
    if (!(weights[i] > 0)) return kNever;
    ElementWords words(static_cast<uint64_t>(first + i), RandomUse::kMultinomial, key);
    return -std::log(words.unit()) / weights[i];
  }
};

/// The first `samples` entries of each row's order.
struct FirstOfRow {
  const int64_t* ordered;
  int64_t classes;
  int64_t samples;
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t row = i / samples;
    return ordered[row * classes + i - row * samples] - row * classes;
  }
};

/// The weights in double. Errors: InvalidArgument, as on the CPU.
template <typename T>
DenseTensor checked_weights(const GpuContext& ctx, const DenseTensor& x, int64_t rows,
                            int64_t needed) {
  const Dims dims{rows, x.dims().back()};
  DenseTensor weights = DenseTensor::empty({dims, DataType::FLOAT64}, ctx.place());
  convert(ctx, x.data<T>(), weights.mutable_data<double>(), x.numel());
  check_elements<double>(ctx, weights, IsInvalidWeight(),
                         {.argument = "x", .raise = throw_invalid_weight});
  DenseTensor possible = DenseTensor::empty({{rows}, DataType::INT64}, ctx.place());
  reduce_rows<CountReducer<double>>(ctx, weights.data<double>(), rows, dims[1],
                                    possible.mutable_data<int64_t>());
  check_elements<int64_t>(ctx, possible, IsBelow{needed},
                          {.argument = "x", .raise = throw_too_few, .extent = needed});
  return weights;
}

/// The element of a permutation at a position of this rank's shard.
template <typename T>
struct NumberOfPart {
  RandomPermutation order;
  int64_t first;
  PHI_HD T operator()(int64_t i) const { return convert_value<T>(order(first + i)); }
};

/// Sets is_there[c] if a label has class c.
template <typename T>
__global__ void mark_classes(const T* labels, int64_t n, int64_t classes, int32_t* is_there) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    if (labels[i] >= 0 && labels[i] < classes) atomicMax(&is_there[labels[i]], 1);
  }
}

struct IsPresent {
  const int32_t* flags;
  PHI_HD bool operator()(int64_t c) const { return flags[c] != 0; }
};

/// A random sort key for each class without a label.
struct DrawOther {
  const int32_t* is_there;
  PhiloxKey key;
  PHI_HD double operator()(int64_t c) const {
    if (is_there[c] != 0) return kNever;
    return ElementWords(static_cast<uint64_t>(c), RandomUse::kClassCenters, key).unit();
  }
};

/// The classes of the labels, then other classes in the order of their keys.
template <typename T>
struct SampledClass {
  const int64_t* centres;
  int64_t count;
  const int64_t* others;  // null if no others are needed
  PHI_HD T operator()(int64_t i) const {
    return static_cast<T>(i < count ? centres[i] : others[i - count]);
  }
};

template <typename T>
struct PlaceOfLabel {
  const int64_t* before;
  int64_t classes;
  PHI_HD T operator()(T label) const {
    return label >= 0 && label < classes ? static_cast<T>(before[label]) : T(0);
  }
};

}  // namespace

/// The classes are unsharded. Errors: InvalidArgument for weights that are negative or not finite,
/// and if a row has too few positive weights.
template <typename T, typename Context>
void MultinomialKernel(const Context& ctx, const DenseTensor& x, bool replacement, int seed,
                       DenseTensor* out) {
  const int64_t classes = x.dims().back();
  const int64_t samples = out->dims().back();
  const int64_t rows = x.dims().numel(0, x.ndim() - 1);
  if (rows == 0) return;
  const int64_t first_row = x.ndim() > 1 ? ctx.output_box(0, out->dims()).box.offset[0] : 0;
  const DenseTensor weights = checked_weights<T>(ctx, x, rows, replacement ? 1 : samples);
  if (classes == 0) return;
  DenseTensor numbers = DenseTensor::empty(weights.meta(), ctx.place());
  auto* own = numbers.mutable_data<double>();
  auto* to = out->mutable_data<int64_t>();
  if (replacement) {
    gpu::launch(ctx, add_up_rows, gpu::blocks_for(ctx, rows), gpu::kBlock, weights.data<double>(),
                rows, classes, own);
    return index_loop(
        ctx, to, out->numel(),
        ChooseFreely{own, classes, samples, first_row * samples, philox_key(seed_bits(seed))});
  }
  index_loop(ctx, own, numbers.numel(),
             WaitingTime{weights.data<double>(), first_row * classes, philox_key(seed_bits(seed))});
  const DenseTensor ordered =
      gpu::order_lines<double>(ctx, numbers, gpu::AxisLines::rows(rows, classes), false);
  index_loop(ctx, to, out->numel(), FirstOfRow{ordered.data<int64_t>(), classes, samples});
}

template <typename T, typename Context>
void RandpermKernel(const Context& ctx, int seed, DenseTensor* out) {
  const ShardBox where = ctx.output_box(0, out->dims());
  if (out->numel() == 0) return;
  const RandomPermutation order(where.global[0], static_cast<uint64_t>(static_cast<int64_t>(seed)));
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             NumberOfPart<T>{order, where.box.offset[0]});
}

/// The host synchronises with the GPU for the number of classes that labels have.
template <typename T, typename Context>
void ClassCenterSampleKernel(const Context& ctx, const DenseTensor& label, int num_classes,
                             int num_samples, bool /*fix_seed*/, int seed, DenseTensor* remapped,
                             DenseTensor* sampled) {
  const int64_t n = label.numel();
  const Dims classes{num_classes};
  DenseTensor flags = DenseTensor::empty({classes, DataType::INT32}, ctx.place());
  auto* is_there = flags.mutable_data<int32_t>();
  fill(ctx, is_there, num_classes, 0);
  check_elements<T>(ctx, label, IsInvalidClass{num_classes},
                    {.argument = "label", .raise = throw_invalid_class, .extent = num_classes});
  if (n > 0) {
    gpu::launch(ctx, mark_classes<T>, gpu::blocks_for(ctx, n), gpu::kBlock, label.data<T>(), n,
                int64_t{num_classes}, is_there);
  }
  const gpu::SelectedIndices centres = gpu::select_indices(ctx, num_classes, IsPresent{is_there});
  DenseTensor others;
  if (num_samples > centres.count()) {
    DenseTensor draws = DenseTensor::empty({classes, DataType::FLOAT64}, ctx.place());
    index_loop(ctx, draws.mutable_data<double>(), num_classes,
               DrawOther{is_there, philox_key(seed_bits(seed))});
    others = gpu::order_lines<double>(ctx, draws, gpu::AxisLines::rows(1, num_classes), false);
  }
  const int64_t count = std::max<int64_t>(num_samples, centres.count());
  *sampled = DenseTensor::empty({{count}, label.dtype()}, ctx.place());
  index_loop(ctx, sampled->mutable_data<T>(), count,
             SampledClass<T>{centres.places.data<int64_t>(), centres.count(),
                             others.defined() ? others.data<int64_t>() : nullptr});
  *remapped = DenseTensor::empty(label.meta(), ctx.place());
  unary_loop(ctx, label.data<T>(), remapped->mutable_data<T>(), n,
             PlaceOfLabel<T>{centres.before.data<int64_t>(), num_classes});
}

PHI_REGISTER_KERNEL(multinomial, GPU, MultinomialKernel, Floats);
PHI_REGISTER_KERNEL(randperm, GPU, RandpermKernel, RealNumbers);
PHI_REGISTER_KERNEL(class_center_sample, GPU, ClassCenterSampleKernel, SignedIntegers);

}  // namespace phi
