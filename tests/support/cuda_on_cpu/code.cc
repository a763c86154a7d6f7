// Selects a kernel's code: that of the code source, if one is enabled.
#include "support/cuda_on_cpu/code.h"

#include <cstdlib>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

CodeSource& other_source() {
  static CodeSource source = nullptr;
  return source;
}

bool is_other_wanted() {
  static const char* const library = std::getenv("AUTOPHI_CUDA_PTX");
  return library != nullptr && *library != '\0';
}

}  // namespace

void set_code_source(CodeSource source) { other_source() = source; }

Code code_of(const void* kernel, Call call, std::shared_ptr<const Arguments> arguments) {
  if (!is_other_wanted()) {
    return {[kernel, call, held = std::move(arguments)] { call(kernel, held->addresses()); },
            shared_arrays(kernel)};
  }
  if (other_source() == nullptr) {
    fail(
        "AUTOPHI_CUDA_PTX is set, but this program cannot run PTX: it was linked without "
        "tests/support/cuda_on_cpu/ptx, which needs zstd (libzstd-dev) when it is built");
  }
  return other_source()(function_name(kernel), std::move(arguments));
}

}  // namespace cuda_on_cpu
