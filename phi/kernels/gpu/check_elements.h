// Device-side assertions: a GPU search for elements that an operator rejects.
#pragma once

#include <type_traits>

#include "phi/core/device/device_assertion.h"
#include "phi/gpu/launch.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

namespace gpu {

/// Evaluates wrong(x) or wrong(x, i), whichever the predicate accepts.
template <typename T, typename Wrong>
__device__ bool has_failed_check(const Wrong& wrong, T x, int64_t i) {
  if constexpr (std::is_invocable_v<const Wrong&, T, int64_t>) {
    return wrong(x, i);
  } else {
    return wrong(x);
  }
}

/// Finds the first invalid element. The last block to finish writes it to the note, unless the note
/// still contains an error of an earlier call.
template <typename T, typename Wrong>
__global__ void find_failed(const T* x, int64_t n, Wrong wrong, DeviceAssertionSearch* search,
                            DeviceAssertionNote* note, DeviceAssertion assertion) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    if (!has_failed_check(wrong, x[i], i)) continue;
    atomicMin(&search->first, static_cast<unsigned long long>(i));
    break;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&search->blocks_done, 1u) != gridDim.x - 1) return;
  const unsigned long long first = atomicExch(&search->first, ~0ull);
  search->blocks_done = 0;
  if (first == ~0ull || note->is_set != 0) return;
  assertion.at = static_cast<int64_t>(first);
  assertion.value = convert_value<int64_t>(x[first]);
  assertion.number = convert_value<double>(x[first]);
  note->found = assertion;
  __threadfence_system();
  note->is_set = 1;
}

}  // namespace gpu

/// Same contract as cpu/check_elements.h, but the error is thrown at the next host synchronisation.
template <typename T, typename Wrong>
void check_elements(const GpuContext& ctx, const DenseTensor& x, const Wrong& wrong,
                    DeviceAssertion assertion) {
  if (x.numel() == 0) return;
  assertion.meta = x.meta();
  assertion.op = OpScope::current();
  gpu::DeviceAssertions& assertions = gpu::GpuDevice::of(ctx.place()).assertions();
  gpu::launch(ctx, gpu::find_failed<T, Wrong>, gpu::blocks_for(ctx, x.numel()), gpu::kBlock,
              x.data<T>(), x.numel(), wrong, assertions.search(), assertions.note(), assertion);
}

}  // namespace phi
