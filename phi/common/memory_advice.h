// Remedy in the error messages of failed host allocations.
#pragma once

namespace phi {

inline constexpr const char* kMoreMemoryAdvice =
    "Raise what the process may have (ulimit -v, the container's limit), share the job out to more "
    "ranks, or let it swap (memory.device of a job).";

}  // namespace phi
