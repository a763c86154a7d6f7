// NCCL as a library that is loaded at run time.
#include <dlfcn.h>
#include <fmt/format.h>

#include "distributed/comm/nccl/library.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

void* open_library() {
  const std::string name = fmt::format("libnccl.so.{}", NCCL_MAJOR);
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string first = dlerror();
  // Where this build has it.
  void* const library = dlopen(AUTOPHI_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  PHI_CHECK(library, errors::Unavailable(
                         "messages between GPUs need NCCL, and it cannot be loaded: {}; {}. "
                         "Install NCCL {} or newer, say where {} is in LD_LIBRARY_PATH, or let "
                         "messages go through the host's memory (messages: host of a job, "
                         "GpuOptions::messages).",
                         first, dlerror(), nccl_version_text(kLeastNccl), name));
  return library;
}

template <typename Function>
Function function_of(void* library, const char* name) {
  auto* const function = reinterpret_cast<Function>(dlsym(library, name));
  PHI_CHECK(function, errors::Unavailable("the NCCL of this machine lacks {}; install {} or newer.",
                                          name, nccl_version_text(kLeastNccl)));
  return function;
}

Nccl load() {
  void* const library = open_library();
  Nccl functions;
#define PHI_NCCL_LOAD(name) functions.name = function_of<decltype(&::name)>(library, #name);
  PHI_NCCL_FUNCTIONS(PHI_NCCL_LOAD)
#undef PHI_NCCL_LOAD
  return functions;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl functions = load();
  return functions;
}

}  // namespace phi::distributed
