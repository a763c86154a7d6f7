// What errors say to those whose process the system gives no more memory.
#pragma once

namespace phi {

inline constexpr const char* kHowToHaveMoreMemory =
    "Raise what the process may have (ulimit -v, the container's limit), share the job out to more "
    "ranks, or let it swap (memory.device of a job).";

}  // namespace phi
