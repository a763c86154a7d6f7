// Stub of the rows of messages for a build without NCCL.
#include "benchmarks/gpu/rows.h"

namespace phi::gpu_bench {

void message_rows(const Extent& /*extent*/, const AddRow& add) {
  add({.what = "messages", .beside = "NCCL", .note = "this build has no NCCL"});
}

}  // namespace phi::gpu_bench
