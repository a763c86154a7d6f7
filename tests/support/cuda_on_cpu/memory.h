// What parts of the twin ask of memory.
#pragma once

#include <optional>
#include <string>

#include "support/cuda_on_cpu/gpu.h"

namespace cuda_on_cpu {

/// The allocation that begins at `memory`; none if that cannot be freed.
std::optional<Arena::Allocation> to_free(Gpu* device, const void* memory);
/// Takes it back, while the memory of its GPU is open.
void end_life(Gpu& device, const Arena::Allocation& allocation);
/// Forgets a destroyed pool once nothing of it is in use. Under the GPU's lock.
void drop_if_over(Gpu& device, CUmemPoolHandle_st* pool);
/// Pools of a GPU give back what they hold over their thresholds, as they do when somebody waits.
void give_back_reserved(int device);
/// Ends the test where stream order has not made the memory yet or has taken it back. `what` uses
/// it.
void check_alive(const std::string& what, const Gpu& device, const void* memory);
/// Whether it lies in memory of cudaHostAlloc.
bool is_pinned(const void* address);

}  // namespace cuda_on_cpu
