// Stub of the rows of messages for a build without NCCL.
#include "benchmarks/gpu/measurement.h"

namespace phi::gpu_bench {

void measure_collectives(const Extent& /*extent*/, const AddMeasurement& add) {
  add({.what = "messages", .beside = "NCCL", .note = "this build has no NCCL"});
}

}  // namespace phi::gpu_bench
