// Loads NCCL at run time.
#include <fmt/format.h>

#include "distributed/comm/nccl/nccl_functions.h"
#include "phi/gpu/library_file.h"

namespace phi::distributed {
namespace {

NcclFunctions load() {
  const gpu::LibraryFile file(
      {.name = fmt::format("libnccl.so.{}", NCCL_MAJOR),
       .known_place = AUTOPHI_NCCL_LIBRARY,
       .purpose = "messages between GPUs need NCCL",
       .advice = fmt::format("Install NCCL {} or newer, send messages through host memory "
                             "(messages: host of a job, GpuOptions::messages)",
                             nccl_version_text(kMinNcclVersion))});
  NcclFunctions functions;
#define PHI_NCCL_LOAD(name) functions.name = file.function<decltype(&::name)>(#name);
  PHI_NCCL_FUNCTIONS(PHI_NCCL_LOAD)
#undef PHI_NCCL_LOAD
  return functions;
}

}  // namespace

const NcclFunctions& nccl() {
  static const NcclFunctions functions = load();
  return functions;
}

}  // namespace phi::distributed
