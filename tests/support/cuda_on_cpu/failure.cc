// Prints failures.
#include "support/cuda_on_cpu/failure.h"

#include <fmt/core.h>

#include <cstdlib>

namespace cuda_on_cpu {

void fail(const std::string& text) {
  explain(text);
  std::abort();
}

void explain(const std::string& text) {
  fmt::print(stderr, "CUDA on the CPU: {}\n", text);
  std::fflush(stderr);
}

}  // namespace cuda_on_cpu
