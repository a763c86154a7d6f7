// Formats NCCL's versions and errors.
#include "distributed/comm/nccl/nccl_functions.h"

#include <fmt/format.h>

namespace phi::distributed {

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string describe(ncclResult_t status, ncclComm_t comm) {
  const char* const more = nccl().ncclGetLastError(comm);
  return fmt::format("NCCL error {}, {}{}{}", static_cast<int>(status),
                     nccl().ncclGetErrorString(status), more && *more ? ": " : "",
                     more ? more : "");
}

}  // namespace phi::distributed
