// check_numerics on GPUs: counts of non-finite elements and zeros, and extremes. Results of ranks
// are combined.
#include <array>
#include <limits>
#include <string>

#include "phi/generated/kernels/loss_scaling.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/numerics_check.h"

namespace phi {
namespace {

constexpr int kCounts = 3;

/// Statistics of a set of elements.
struct ElementStatistics {
  int64_t nans;
  int64_t infinities;
  int64_t zeros;
  double most;     // largest number
  double negated;  // largest negated number
  double sum;
};

/// Computes all statistics in one pass, because reading dominates the time.
struct NumericsReducer {
  using value_type = ElementStatistics;
  using State = ElementStatistics;
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr ElementStatistics kIdentity{0, 0, 0, kNone, kNone, 0.0};

  PHI_HD static ElementStatistics lift(double x) {
    const bool is_number = x == x;
    const bool is_infinite = is_number && x - x != 0.0;
    return {is_number ? 0 : 1,     is_infinite ? 1 : 0,    x == 0.0 ? 1 : 0,
            is_number ? x : kNone, is_number ? -x : kNone, x};
  }
  PHI_HD static ElementStatistics join(const ElementStatistics& a, const ElementStatistics& b) {
    return {a.nans + b.nans,
            a.infinities + b.infinities,
            a.zeros + b.zeros,
            a.most > b.most ? a.most : b.most,
            a.negated > b.negated ? a.negated : b.negated,
            a.sum + b.sum};
  }
  PHI_HD static ElementStatistics carry(const ElementStatistics& a, const ElementStatistics& b) {
    return join(a, b);
  }
};

/// The counts as output elements.
struct CountAt {
  const ElementStatistics* found;
  PHI_HD int64_t operator()(int64_t i) const {
    return i == 0 ? found->nans : i == 1 ? found->infinities : found->zeros;
  }
};
struct MostAt {
  const ElementStatistics* found;
  PHI_HD double operator()(int64_t i) const { return i == 0 ? found->most : found->negated; }
};
struct SumAt {
  const ElementStatistics* found;
  PHI_HD double operator()(int64_t) const { return found->sum; }
};

/// Maximum, minimum and mean of n elements; 0 if there are none.
struct Summary {
  const int64_t* nans;
  const double* most;  // maximum, then maximum of negated numbers
  const double* sum;
  int64_t n;
  PHI_HD float operator()(int64_t i) const {
    if (n == 0) return 0;
    if (i == 2) return static_cast<float>(*sum / static_cast<double>(n));
    if (n <= *nans) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(i == 0 ? most[0] : -most[1]);
  }
};

}  // namespace

/// Same contract as on the CPU. At level 0 the host synchronises with the GPU for the counts.
template <typename T, typename Context>
void CheckNumericsKernel(const Context& ctx, const DenseTensor& tensor, const std::string& op_type,
                         const std::string& var_name, int check_nan_inf_level,
                         int /*stack_height_limit*/, const std::string& /*output_dir*/,
                         DenseTensor* stats, DenseTensor* values) {
  DenseTensor sum = DenseTensor::empty({{1}, DataType::FLOAT64}, ctx.place());
  DenseTensor extremes = DenseTensor::empty({{2}, DataType::FLOAT64}, ctx.place());
  DenseTensor memory =
      DenseTensor::empty({{sizeof(ElementStatistics)}, DataType::UINT8}, ctx.place());
  auto* counts = stats->mutable_data<int64_t>();
  auto* most = extremes.mutable_data<double>();
  auto* const numerics = static_cast<ElementStatistics*>(memory.mutable_raw_data());
  reduce_all<NumericsReducer>(ctx, tensor.data<T>(), tensor.numel(), numerics);
  index_loop(ctx, counts, kCounts, CountAt{numerics});
  index_loop(ctx, most, 2, MostAt{numerics});
  index_loop(ctx, sum.mutable_data<double>(), 1, SumAt{numerics});
  for (int d = 0; ctx.view() && d < tensor.ndim(); ++d) {
    ctx.view()->combine_over(0, d, CombineKind::kSum, stats);
    ctx.view()->combine_over(0, d, CombineKind::kSum, &sum);
    ctx.view()->combine_over(0, d, CombineKind::kMax, &extremes);
  }
  if (check_nan_inf_level <= 0) {
    std::array<int64_t, kCounts> found;
    gpu::GpuDevice::of(ctx.place())
        .copy_to_host(found.data(), reinterpret_cast<const std::byte*>(counts), sizeof(found));
    check_numerics(check_nan_inf_level, op_type, var_name, found[0], found[1]);
  }
  index_loop(
      ctx, values->mutable_data<float>(), 3,
      Summary{counts, most, sum.data<double>(), ctx.input_box(0, tensor.dims()).global.numel()});
}

PHI_REGISTER_KERNEL(check_numerics, GPU, CheckNumericsKernel, Floats);

}  // namespace phi
