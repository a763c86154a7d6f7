// Reduction kernels. A thread processes one element, or 16 bytes, of all inputs at a time: it reads
// each input once, in the order of positions, and writes the output once.
#include <algorithm>
#include <span>

#include "distributed/comm/combine.h"
#include "distributed/comm/nccl/reduce.h"
#include "phi/core/device/host_array.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/pack.h"

namespace phi::distributed {
namespace {

// Up to this many input pointers are passed as kernel arguments; more are passed in GPU memory.
constexpr int kMostByValue = 64;

struct Inputs {
  const void* few[kMostByValue];
  const void* const* many;  // null: passed by value
  int count;

  template <int kWidth, typename T>
  __device__ gpu::Pack<T, kWidth> pack(int j, int64_t i) const {
    return gpu::pack_at<kWidth>(static_cast<const T*>(many ? many[j] : few[j]), i);
  }
};

/// Computes pack i of the output. The loads of several inputs are issued together.
template <int kWidth, ReduceKind kKind, typename T>
__device__ void reduce_pack(const Inputs& inputs, T* out, int64_t i) {
  using A = reduction_t<kKind, T>;
  const gpu::Pack<T, kWidth> first = inputs.pack<kWidth, T>(0, i);
  A values[kWidth];
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) values[e] = static_cast<A>(first.element[e]);
  PHI_UNROLL(2)
  for (int j = 1; j < inputs.count; ++j) {
    const gpu::Pack<T, kWidth> next = inputs.pack<kWidth, T>(j, i);
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) {
      values[e] = combine<kKind, A>(values[e], static_cast<A>(next.element[e]));
    }
  }
  gpu::Pack<T, kWidth> result;
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) {
    result.element[e] = reduced<kKind, T>(values[e], inputs.count);
    if constexpr (kMayOverflow<kKind, T>) {
      if (is_finite(values[e])) continue;
      LargeMean<A> mean(inputs.count);
      for (int j = 0; j < inputs.count; ++j) {
        mean.add(static_cast<A>(inputs.pack<kWidth, T>(j, i).element[e]));
      }
      result.element[e] = static_cast<T>(mean.mean());
    }
  }
  gpu::put_pack(out, i, result);
}

/// Processes `packs` whole packs, then the remaining elements one by one.
template <typename T, ReduceKind kKind>
__global__ void reduce_kernel(Inputs inputs, T* out, int64_t packs, int64_t count) {
  constexpr int kWidth = gpu::pack_width(sizeof(T));
  for (int64_t i = gpu::first_item(); i < packs; i += gpu::item_stride()) {
    reduce_pack<kWidth, kKind>(inputs, out, i);
  }
  for (int64_t i = packs * kWidth + gpu::first_item(); i < count; i += gpu::item_stride()) {
    reduce_pack<1, kKind>(inputs, out, i);
  }
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
    constexpr int kWidth = gpu::pack_width(sizeof(T));
    T* const to = static_cast<T*>(out);
    const bool in_packs =
        gpu::are_pack_aligned<kWidth>(to) && std::ranges::all_of(inputs, [](const void* in) {
          return gpu::are_pack_aligned<kWidth>(static_cast<const T*>(in));
        });
    const int64_t packs = in_packs ? count / kWidth : 0;
    const unsigned blocks = gpu::blocks_for(device, in_packs ? packs + count % kWidth : count);
    visit_reduce_kind<T>(kind, [&]<ReduceKind kKind>() {
      gpu::launch(device, reduce_kernel<T, kKind>, blocks, gpu::kBlock, given, to, packs, count);
    });
  });
}

}  // namespace phi::distributed
