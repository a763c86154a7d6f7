// Threads that wait for NCCL in place of the caller.
#include "distributed/comm/nccl/timed_abort.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

namespace phi::distributed {

std::thread thread_on_same_gpu(std::function<void()> body) {
  int gpu = 0;
  (void)cudaGetDevice(&gpu);
  return std::thread([gpu, body = std::move(body)] {
    (void)cudaSetDevice(gpu);  // also fails after a failed kernel; ignored
    body();
  });
}

void run_with_timeout_or_exit(std::chrono::milliseconds patience, const std::string& why,
                              std::function<void()> body) {
  auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  thread_on_same_gpu([ended, body = std::move(body)] {
    body();
    ended->set_value();
  }).detach();
  if (end.wait_for(patience) == std::future_status::ready) return;
  fmt::print(stderr, "{}\nNCCL does not finish its work; the process exits.\n", why);
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace phi::distributed
