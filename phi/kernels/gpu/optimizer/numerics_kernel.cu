// check_numerics on GPUs: what is not finite in a tensor, and its extremes. What ranks find in
// their parts is combined.
#include <array>
#include <limits>
#include <string>

#include "phi/generated/kernels/loss_scaling.h"
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/numerics_check.h"

namespace phi {
namespace {

constexpr int kCounts = 3;

/// How many elements are of a kind.
template <typename Kind>
struct KindReducer : SumReducer<int64_t> {
  PHI_HD static int64_t lift(double x) { return Kind::has(x) ? 1 : 0; }
};
struct Nans {
  PHI_HD static bool has(double x) { return x != x; }
};
struct Infinities {
  PHI_HD static bool has(double x) { return x == x && x - x != 0; }
};
struct Zeros {
  PHI_HD static bool has(double x) { return x == 0; }
};

/// The largest of sign * x of all that are numbers.
template <int kSign>
struct MostReducer : MaxReducer<double> {
  PHI_HD static double lift(double x) { return x == x ? kSign * x : kIdentity; }
};

/// The largest number, the smallest, the mean of n.
struct Summary {
  const int64_t* nans;
  const double* most;  // and the largest of negative numbers
  const double* sum;
  int64_t n;
  PHI_HD float operator()(int64_t i) const {
    if (i == 2) return static_cast<float>(*sum / static_cast<double>(n));
    if (n <= *nans) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(i == 0 ? most[0] : -most[1]);
  }
};

}  // namespace

/// As on the CPU; at level 0 the host waits for the counts.
template <typename T, typename Context>
void CheckNumericsKernel(const Context& ctx, const DenseTensor& tensor, const std::string& op_type,
                         const std::string& var_name, int check_nan_inf_level,
                         int /*stack_height_limit*/, const std::string& /*output_dir*/,
                         DenseTensor* stats, DenseTensor* values) {
  DenseTensor sum = DenseTensor::empty({{1}, DataType::FLOAT64}, ctx.place());
  DenseTensor extremes = DenseTensor::empty({{2}, DataType::FLOAT64}, ctx.place());
  auto* counts = stats->mutable_data<int64_t>();
  auto* most = extremes.mutable_data<double>();
  const T* x = tensor.data<T>();
  const int64_t n = tensor.numel();
  reduce_all<KindReducer<Nans>>(ctx, x, n, counts);
  reduce_all<KindReducer<Infinities>>(ctx, x, n, counts + 1);
  reduce_all<KindReducer<Zeros>>(ctx, x, n, counts + 2);
  reduce_all<MostReducer<1>>(ctx, x, n, most);
  reduce_all<MostReducer<-1>>(ctx, x, n, most + 1);
  reduce_all<SumReducer<double>>(ctx, x, n, sum.mutable_data<double>());
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
