// The arithmetic of reductions on a GPU: a thread has one element of all inputs at a time, so each
// is read once, in the order of positions, and the output written once.
#include <vector>

#include "distributed/comm/combine.h"
#include "distributed/comm/nccl/reduce.h"
#include "phi/core/device/host_array.h"
#include "phi/gpu/launch.h"

namespace phi::distributed {
namespace {

// As many go to the kernel as they are; more lie in the GPU's memory.
constexpr int kMostByValue = 64;

struct Inputs {
  const void* few[kMostByValue];
  const void* const* many;  // null: they are few
  int count;

  __device__ const void* at(int j) const { return many ? many[j] : few[j]; }
};

template <typename T, ReduceKind kKind>
__global__ void reduce_kernel(Inputs inputs, T* out, int64_t count) {
  using A = accumulator_t<T>;
  for (int64_t i = gpu::first_item(); i < count; i += gpu::item_stride()) {
    A value = static_cast<A>(static_cast<const T*>(inputs.at(0))[i]);
    for (int j = 1; j < inputs.count; ++j) {
      value = combine<kKind, A>(value, static_cast<A>(static_cast<const T*>(inputs.at(j))[i]));
    }
    out[i] = reduced<kKind, T>(value, inputs.count);
  }
}

template <typename T, ReduceKind kKind>
void launch_kind(gpu::GpuDevice& device, const Inputs& inputs, T* out, int64_t count) {
  gpu::launch(device, reduce_kernel<T, kKind>, gpu::blocks_for(device, count), gpu::kBlock, inputs,
              out, count);
}

}  // namespace

void reduce_on_gpu(gpu::GpuDevice& device, std::span<const void* const> inputs, void* out,
                   int64_t count, DataType dtype, ReduceKind kind) {
  if (inputs.empty() || count == 0) return;
  device.make_current();
  Inputs given{};
  given.count = static_cast<int>(inputs.size());
  DeviceMemory table;
  if (inputs.size() <= kMostByValue) {
    std::copy(inputs.begin(), inputs.end(), given.few);
  } else {
    table = DeviceMemory(device, inputs.size_bytes());
    device.copy_from_host(table.data(), inputs.data(), inputs.size_bytes());
    given.many = reinterpret_cast<const void* const*>(table.data());
  }
  visit_any_dtype(dtype, [&]<typename T>() {
    visit_reduce_kind<T>(kind, [&]<ReduceKind kKind>() {
      launch_kind<T, kKind>(device, given, static_cast<T*>(out), count);
    });
  });
}

}  // namespace phi::distributed
