// What other parts of the twin ask about memory.
#pragma once

namespace cuda_on_cpu {

/// Pools of a GPU give back what they hold over their thresholds, as they do when somebody waits.
void give_back_reserved(int device);
/// Whether it lies in memory of cudaHostAlloc.
bool is_pinned(const void* address);

}  // namespace cuda_on_cpu
