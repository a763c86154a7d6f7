// Memory functions that other parts of the emulator use.
#pragma once

#include <optional>
#include <string>

#include "support/cuda_on_cpu/gpu.h"

namespace cuda_on_cpu {

/// The allocation that begins at `memory`; nullopt if it cannot be freed.
std::optional<Arena::Allocation> to_free(Gpu* device, const void* memory);
/// Frees an allocation. Its GPU's memory must be open.
void end_life(Gpu& device, const Arena::Allocation& allocation);
/// Deletes a destroyed pool once none of its memory is in use. Requires the GPU's lock.
void drop_if_over(Gpu& device, CUmemPoolHandle_st* pool);
/// Trims the pools of a GPU to their thresholds, as a synchronisation does.
void give_back_reserved(int device);
/// Fails the test if the memory is not yet allocated or already freed in stream order. `what` names
/// its user.
void check_alive(const std::string& what, const Gpu& device, const void* memory);
/// Whether `address` is in memory of cudaHostAlloc.
bool is_pinned(const void* address);

}  // namespace cuda_on_cpu
