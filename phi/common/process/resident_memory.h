// The resident memory of this process.
#pragma once

#include <cstdint>

namespace phi {

/// Bytes, with the pages of its program and libraries. 0 where the system does not tell.
struct ResidentMemory {
  int64_t now = 0;
  int64_t most = 0;  // since the process began
};

ResidentMemory resident_memory();

}  // namespace phi
