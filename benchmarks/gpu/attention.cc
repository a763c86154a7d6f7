// Rows of attention: bfloat16, causal, heads of 128.
#include <fmt/format.h>

#include <functional>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/gaussian.h"
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"
#include "phi/common/errors.h"

namespace phi::gpu_bench {
namespace {

constexpr int64_t kHead = 128;

/// A call that has so many operations, beside what they take at the peak.
void measure(const Stopwatch& stopwatch, double operations, double peak,
             const std::function<void()>& call, Measurement* row) {
  row->ours_us = stopwatch.seconds(call) * 1e6;
  row->beside_us = operations / peak * 1e6;
  row->ratio = row->beside_us / row->ours_us;
}

struct Attention {
  int64_t batch, positions, heads;
  Tensor q = drawn(1), k = drawn(2), v = drawn(3), grad = drawn(4);

  Tensor drawn(int seed) const {
    return cast(gaussian({batch, positions, heads, kHead}, 0, 1, seed), DataType::BFLOAT16);
  }
  /// Two products of which causality leaves half.
  double forward_operations() const {
    return 2.0 * static_cast<double>(batch * heads * positions * positions * kHead);
  }
};

}  // namespace

void measure_attention(const Place& place, const Extent& extent, double peak,
                       const AddMeasurement& add) {
  const Attention x{
      .batch = extent.of(4, 1), .positions = extent.of(4096, 48), .heads = extent.of(16, 2)};
  PHI_CHECK(peak > 0, errors::Unavailable("no matmul was measured to compare attention with."));
  const auto named = [&](const char* what) {
    return fmt::format("flash_attention {} bfloat16 {}", what, x.positions);
  };
  Measurement forward{.what = named("forward"), .beside = "bfloat16 matmul", .goal = 0.25};
  Measurement backward{.what = named("backward"), .beside = "bfloat16 matmul", .goal = 0.20};
  const Stopwatch stopwatch(place, extent);
  Measurement* current = &forward;
  try {
    const auto attend = [&] {
      return intermediate::flash_attention(x.q, x.k, x.v, {}, {}, 0.0f, true);
    };
    measure(
        stopwatch, x.forward_operations(), peak, [&] { (void)attend(); }, current);
    current = &backward;
    const auto [out, softmax, sums, seed] = attend();
    const auto back = [&, out = out, sums = sums] {
      (void)flash_attention_grad(x.q, x.k, x.v, out, sums, {}, {}, x.grad, 0.0f, true, false);
    };
    // Five products instead of two.
    measure(stopwatch, 2.5 * x.forward_operations(), peak, back, current);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnimplemented) throw;
    current->note = backward.note = error.what();
  }
  add(forward);
  add(backward);
}

}  // namespace phi::gpu_bench
