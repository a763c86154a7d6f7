// Ends NCCL's work from a separate thread, within a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace phi::distributed {

/// Time limit for an abort.
inline constexpr std::chrono::seconds kAbortTimeout{5};

/// Starts a thread whose current GPU is this thread's. By default CUDA would use the first GPU.
std::thread thread_on_same_gpu(std::function<void()> body);

/// Runs `body`, which makes NCCL end its work, in a separate thread and waits for it, because NCCL
/// may never return. If it takes longer than `patience`, prints `why` to stderr and exits the
/// process.
void run_with_timeout_or_exit(std::chrono::milliseconds patience, const std::string& why,
                              std::function<void()> body);

}  // namespace phi::distributed
