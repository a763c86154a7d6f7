// Rows of what a call costs the host: small arrays, whose kernels are done before the next call.
#include "api/generated/ops/add.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/matmul.h"
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"

namespace phi::gpu_bench {
namespace {

constexpr double kMostMicroseconds = 6;

template <typename Body>
Measurement measure_host_call(const Place& place, const Extent& extent, const char* what,
                              const Body& body) {
  Measurement row{.what = what, .beside = "6 us", .goal = 1, .beside_us = kMostMicroseconds};
  row.ours_us = Stopwatch(place, extent).host_seconds(body) * 1e6;
  row.ratio = row.beside_us / row.ours_us;
  return row;
}

}  // namespace

void measure_host_time(const Place& place, const Extent& extent, const AddMeasurement& add_row) {
  const Tensor x = full({64, 64}, 1.0f), scale = full({64}, 1.0f);
  add_row(measure_host_call(place, extent, "host time of add", [&] { (void)add(x, x); }));
  add_row(measure_host_call(place, extent, "host time of layer_norm",
                            [&] { (void)layer_norm(x, scale, scale); }));
  add_row(measure_host_call(place, extent, "host time of matmul", [&] { (void)matmul(x, x); }));
}

}  // namespace phi::gpu_bench
