// Remedy in the error messages of failed host allocations.
#pragma once

namespace phi {

inline constexpr const char* kMoreMemoryAdvice =
    "Raise the memory limit of the process (ulimit -v, the container's limit), run the job on more "
    "ranks, or enable swapping (memory.device of a job).";

}  // namespace phi
