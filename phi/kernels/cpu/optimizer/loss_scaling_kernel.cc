// Loss scaling of half-precision programs on the CPU: gradients are checked and unscaled, and the
// scale is adjusted. Also check_numerics, which checks one tensor for numbers that are not finite.
// Ranks combine their findings.
#include <algorithm>
#include <cmath>
#include <limits>

#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/loss_scaling.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/numerics_check.h"

namespace phi {
namespace {

/// Combines over all dims of input `i`.
void combine(const KernelContext& ctx, int i, int ndim, CombineKind kind, DenseTensor* values) {
  for (int d = 0; ctx.view() && d < ndim; ++d) ctx.view()->combine_over(i, d, kind, values);
}

template <typename T>
bool all_finite(const T* x, int64_t n) {
  // x - x is 0 for finite numbers and NaN for all others.
  return std::all_of(x, x + n, [](T v) {
    const auto value = static_cast<compute_t<T>>(v);
    return value - value == compute_t<T>(0);
  });
}

/// Whether this tensor, list element `i`, has an element that is not finite on any rank.
template <typename T>
bool found_in(const KernelContext& ctx, int i, const DenseTensor& x) {
  DenseTensor found = DenseTensor::empty({Dims{1}, DataType::INT32}, CPUPlace());
  int32_t* flag = found.mutable_data<int32_t>();
  *flag = all_finite(x.data<T>(), x.numel()) ? 0 : 1;
  combine(ctx, i, x.ndim(), CombineKind::kMax, &found);
  return *flag != 0;
}

/// The statistics that check_numerics reports of an array.
struct Numerics {
  int64_t nans = 0;
  int64_t infinities = 0;
  int64_t zeros = 0;
  double most = -std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity();
  double sum = 0;

  void add(const Numerics& other) {
    nans += other.nans;
    infinities += other.infinities;
    zeros += other.zeros;
    most = std::max(most, other.most);
    least = std::min(least, other.least);
    sum += other.sum;
  }
  /// Combines the statistics over the ranks that hold parts of the only input.
  void combine_all(const KernelContext& ctx, int ndim) {
    DenseTensor counts = scratch_array({Dims{3}, DataType::INT64}, CPUPlace());
    DenseTensor sums = scratch_array({Dims{1}, DataType::FLOAT64}, CPUPlace());
    DenseTensor extremes = scratch_array({Dims{2}, DataType::FLOAT64}, CPUPlace());
    std::copy_n(std::array{nans, infinities, zeros}.data(), 3, counts.mutable_data<int64_t>());
    *sums.mutable_data<double>() = sum;
    std::copy_n(std::array{most, -least}.data(), 2, extremes.mutable_data<double>());
    combine(ctx, 0, ndim, CombineKind::kSum, &counts);
    combine(ctx, 0, ndim, CombineKind::kSum, &sums);
    combine(ctx, 0, ndim, CombineKind::kMax, &extremes);
    const int64_t* count = counts.data<int64_t>();
    nans = count[0];
    infinities = count[1];
    zeros = count[2];
    sum = *sums.data<double>();
    most = extremes.data<double>()[0];
    least = -extremes.data<double>()[1];
  }
};

/// Returns the statistics of n elements, computed in lanes.
template <typename C>
Numerics numerics_of(const C* x, int64_t n) {
  constexpr int kLanes = 16;
  return run_best_isa<double>([=] {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    int64_t nans[kLanes] = {}, infinities[kLanes] = {}, zeros[kLanes] = {};
    double most[kLanes], least[kLanes], sums[kLanes] = {};
    std::fill_n(most, kLanes, -kInfinity);
    std::fill_n(least, kLanes, kInfinity);
    const auto look_at = [&](const C* from, int count) {
      for (int l = 0; l < count; ++l) {
        const auto value = static_cast<double>(from[l]);
        nans[l] += value != value ? 1 : 0;
        infinities[l] += std::fabs(value) == kInfinity ? 1 : 0;
        zeros[l] += value == 0 ? 1 : 0;
        most[l] = value > most[l] ? value : most[l];
        least[l] = value < least[l] ? value : least[l];
        sums[l] += value;
      }
    };
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) look_at(x + i, kLanes);
    look_at(x + i, static_cast<int>(n - i));
    Numerics all;
    for (int l = 0; l < kLanes; ++l)
      all.add(Numerics{nans[l], infinities[l], zeros[l], most[l], least[l], sums[l]});
    return all;
  });
}

}  // namespace

/// Divides each tensor of x by scale. The first tensor with an infinity or NaN and all tensors
/// after it are multiplied by 0 instead. found_infinite is set if there is one.
template <typename T, typename Context>
void CheckFiniteAndUnscaleKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                                 const DenseTensor& scale, std::span<DenseTensor* const> out,
                                 DenseTensor* found_infinite) {
  using C = compute_t<T>;
  const C inverse = C(1) / number_at<C>(scale);
  bool found = false;
  for (size_t i = 0; i < x.size(); ++i) {
    found = found || found_in<T>(ctx, static_cast<int>(i), *x[i]);
    const C factor = found ? C(0) : inverse;
    unary_loop(x[i]->data<T>(), out[i]->mutable_data<T>(), x[i]->numel(),
               [factor](C value) { return value * factor; });
  }
  *found_infinite->mutable_data<bool>() = found;
}

// A dry run counts the messages of CheckFiniteAndUnscaleKernel for finite tensors.
template <typename T, typename Context>
void CheckFiniteAndUnscaleDry(const Context& ctx, std::span<const DenseTensor* const> x,
                              const DenseTensor&, std::span<DenseTensor* const>, DenseTensor*) {
  for (size_t i = 0; i < x.size(); ++i) {
    DenseTensor found = DenseTensor::empty({Dims{1}, DataType::INT32}, ctx.place());
    combine(ctx, static_cast<int>(i), x[i]->ndim(), CombineKind::kMax, &found);
  }
}

/// After incr_every_n_steps finite steps in a row, the scale is multiplied by incr_ratio, if it
/// stays finite. After decr_every_n_nan_or_inf other steps it is multiplied by decr_ratio, but
/// stays at least 1. Gradients that are not finite become 0. With stop_update, scale and counts do
/// not change.
template <typename T, typename Context>
void UpdateLossScalingKernel(const Context&, std::span<const DenseTensor* const> x,
                             const DenseTensor& found_infinite,
                             const DenseTensor& prev_loss_scaling, const DenseTensor& in_good_steps,
                             const DenseTensor& in_bad_steps, int incr_every_n_steps,
                             int decr_every_n_nan_or_inf, float incr_ratio, float decr_ratio,
                             const Scalar& stop_update, std::span<DenseTensor* const> out,
                             DenseTensor* loss_scaling, DenseTensor* out_good_steps,
                             DenseTensor* out_bad_steps) {
  const bool found = *found_infinite.data<bool>();
  for (size_t i = 0; i < x.size(); ++i) {
    if (found) {
      std::fill_n(out[i]->mutable_data<T>(), x[i]->numel(), T(0.0f));
    } else {
      keep(*x[i], out[i]);
    }
  }
  double scale = number_at<double>(prev_loss_scaling);
  int64_t good = number_at<int64_t>(in_good_steps);
  int64_t bad = number_at<int64_t>(in_bad_steps);
  if (!stop_update.to<bool>()) {
    good = found ? 0 : good + 1;
    bad = found ? bad + 1 : 0;
    if (found && bad == decr_every_n_nan_or_inf) {
      scale = std::max(scale * decr_ratio, 1.0);
      bad = 0;
    }
    if (!found && good == incr_every_n_steps) {
      const double grown = scale * incr_ratio;
      const bool fits = visit_dtype(loss_scaling->dtype(), [&]<typename S>() {
        return std::isfinite(convert_value<double>(convert_value<S>(grown)));
      });
      scale = fits ? grown : scale;
      good = 0;
    }
  }
  set_number(loss_scaling, scale);
  set_number(out_good_steps, good);
  set_number(out_bad_steps, bad);
}

/// stats: the numbers of NaN, infinities and zeros. values: the largest number, the smallest number
/// and the mean, all 0 if the tensor is empty; the first two are NaN if all elements are NaN.
///
/// Errors   PreconditionNotMet at level 0 if an element is not finite, on every rank.
template <typename T, typename Context>
void CheckNumericsKernel(const Context& ctx, const DenseTensor& tensor, const std::string& op_type,
                         const std::string& var_name, int check_nan_inf_level,
                         int /*stack_height_limit*/, const std::string& /*output_dir*/,
                         DenseTensor* stats, DenseTensor* values) {
  const T* x = tensor.data<T>();
  Numerics found = numerics_of(x, tensor.numel());
  found.combine_all(ctx, tensor.ndim());
  check_numerics(check_nan_inf_level, op_type, var_name, found.nans, found.infinities);
  const int64_t n = ctx.input_box(0, tensor.dims()).global.numel();
  const std::array counts = {found.nans, found.infinities, found.zeros};
  std::copy_n(counts.data(), 3, stats->mutable_data<int64_t>());
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const bool has_numbers = n > found.nans;
  std::array extremes = {has_numbers ? found.most : nothing, has_numbers ? found.least : nothing,
                         found.sum / static_cast<double>(n)};
  if (n == 0) extremes.fill(0);
  convert(extremes.data(), values->mutable_data<float>(), 3);
}

// A dry run counts the messages of CheckNumericsKernel.
template <typename T, typename Context>
void CheckNumericsDry(const Context& ctx, const DenseTensor& tensor, const std::string&,
                      const std::string&, int, int, const std::string&, DenseTensor*,
                      DenseTensor*) {
  const auto combine_some = [&](int64_t n, DataType dtype, CombineKind kind) {
    DenseTensor values = scratch_array({Dims{n}, dtype}, ctx.place());
    combine(ctx, 0, tensor.ndim(), kind, &values);
  };
  combine_some(3, DataType::INT64, CombineKind::kSum);
  combine_some(1, DataType::FLOAT64, CombineKind::kSum);
  combine_some(2, DataType::FLOAT64, CombineKind::kMax);
}

PHI_REGISTER_KERNEL(check_finite_and_unscale, CPU, CheckFiniteAndUnscaleKernel, Floats);
PHI_REGISTER_DRY_KERNEL(check_finite_and_unscale, CheckFiniteAndUnscaleDry, Floats);
PHI_REGISTER_KERNEL(update_loss_scaling, CPU, UpdateLossScalingKernel, Floats);
PHI_REGISTER_KERNEL(check_numerics, CPU, CheckNumericsKernel, Floats);
PHI_REGISTER_DRY_KERNEL(check_numerics, CheckNumericsDry, Floats);

}  // namespace phi
