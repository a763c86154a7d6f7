// Rows of matrix products.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/matmul.h"
#include "benchmarks/gpu/direct_matmul.h"
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"
#include "phi/common/errors.h"

namespace phi::gpu_bench {
namespace {

constexpr double kGoal = 0.97;

/// A reference that computes something else is none. Sums of n products of numbers around 1 differ
/// by what the dtype rounds, and by their order.
void check_same(const Tensor& ours, const Tensor& direct, int64_t n) {
  const std::vector<float> a = cast(ours, DataType::FLOAT32).to_vector<float>();
  const std::vector<float> b = cast(direct, DataType::FLOAT32).to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    const double bound = 0.01 * (std::abs(a[i]) + std::sqrt(static_cast<double>(n)));
    PHI_CHECK(std::abs(a[i] - b[i]) <= bound,
              errors::Unavailable("element {} of a matmul of size {} is {} by the operator and {} "
                                  "by cuBLASLt called directly.",
                                  i, n, a[i], b[i]));
  }
}

Measurement measure_matmul(const Place& place, const Extent& extent, DataType dtype, int64_t n) {
  const Tensor a = cast(gaussian({n, n}, 0, 1, 1), dtype);
  const Tensor b = cast(gaussian({n, n}, 0, 1, 2), dtype);
  Tensor c = full({n, n}, 0.0f, dtype);
  const DirectMatmul direct(place, dtype, n);
  direct.run(a, b, c);
  check_same(matmul(a, b), c, n);
  const Comparison taken =
      Stopwatch(place, extent).compare([&] { (void)matmul(a, b); }, [&] { direct.run(a, b, c); });
  return {.what = fmt::format("matmul {} {}", name_of(dtype), n),
          .beside = "cuBLASLt",
          .goal = kGoal,
          .ours_us = taken.ours * 1e6,
          .beside_us = taken.theirs * 1e6,
          .ratio = taken.ratio};
}

}  // namespace

void measure_matmuls(const Place& place, const Extent& extent, double* peak,
                     const AddMeasurement& add) {
  for (const DataType dtype : {DataType::BFLOAT16, DataType::FLOAT32}) {
    for (const int64_t n : {2048, 4096, 8192}) {
      const int64_t side = extent.of(n, n / 64);
      const Measurement row = measure_matmul(place, extent, dtype, side);
      add(row);
      const double operations = 2 * std::pow(static_cast<double>(side), 3);
      if (dtype == DataType::BFLOAT16) *peak = std::max(*peak, operations / (row.beside_us * 1e-6));
    }
  }
}

}  // namespace phi::gpu_bench
