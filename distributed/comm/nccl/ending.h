// How NCCL is made to end its work: beside the thread that asks for it, and within a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace phi::distributed {

/// How long NCCL may take to abort its work.
inline constexpr std::chrono::seconds kAbortPatience{5};

/// A thread that has this one's GPU as the current one: by itself CUDA would take up the first GPU.
std::thread thread_on_same_gpu(std::function<void()> body);

/// Returns when `body`, which asks NCCL to end its work, is done. It is asked in a thread of its
/// own, which may never come back: after `patience` the process ends, with `why` on stderr.
void end_or_exit(std::chrono::milliseconds patience, const std::string& why,
                 std::function<void()> body);

}  // namespace phi::distributed
