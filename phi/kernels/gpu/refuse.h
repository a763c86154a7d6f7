// The search on a GPU for elements that an operator refuses.
#pragma once

#include <type_traits>

#include "phi/core/device/misfit.h"
#include "phi/gpu/launch.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

namespace gpu {

/// Wrong: asked of an element, or of an element and its position.
template <typename T, typename Wrong>
__device__ bool is_misfit(const Wrong& wrong, T x, int64_t i) {
  if constexpr (std::is_invocable_v<const Wrong&, T, int64_t>) {
    return wrong(x, i);
  } else {
    return wrong(x);
  }
}

/// The last block to end leaves what was found first, unless an earlier call's waits there still.
template <typename T, typename Wrong>
__global__ void find_misfit(const T* x, int64_t n, Wrong wrong, MisfitSearch* search,
                            MisfitRecord* record, Misfit misfit) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    if (!is_misfit(wrong, x[i], i)) continue;
    atomicMin(&search->first, static_cast<unsigned long long>(i));
    break;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&search->blocks_done, 1u) != gridDim.x - 1) return;
  const unsigned long long first = atomicExch(&search->first, ~0ull);
  search->blocks_done = 0;
  if (first == ~0ull || record->is_set != 0) return;
  misfit.at = static_cast<int64_t>(first);
  misfit.value = convert_value<int64_t>(x[first]);
  misfit.number = convert_value<double>(x[first]);
  record->found = misfit;
  __threadfence_system();
  record->is_set = 1;
}

}  // namespace gpu

/// As on the CPU (cpu/refuse.h), but the error rises where the host waits next.
template <typename T, typename Wrong>
void refuse_elements(const GpuContext& ctx, const DenseTensor& x, const Wrong& wrong,
                     Misfit misfit) {
  if (x.numel() == 0) return;
  misfit.meta = x.meta();
  misfit.op = OpScope::current();
  gpu::Misfits& misfits = gpu::GpuDevice::of(ctx.place()).misfits();
  gpu::launch(ctx, gpu::find_misfit<T, Wrong>, gpu::blocks_for(ctx, x.numel()), gpu::kBlock,
              x.data<T>(), x.numel(), wrong, misfits.search(), misfits.record(), misfit);
}

}  // namespace phi
