// The memory limits of a captured program, by tier.
#pragma once

#include <string>

#include "phi/memory/plan/swap_plan.h"

namespace phi {

struct ProgramMemory {
  /// Limits in bytes, for this rank. If the device is unlimited (the default), nothing is swapped.
  memory::MemoryLimits limits;
  /// The folder of the disk tier's temporary file.
  std::string disk_folder = "/tmp";

  bool is_limited() const { return limits.device_bytes != memory::kUnlimited; }
};

/// Limits the device memory of the calling rank, and keeps deferred tensors deferred until they are
/// needed. Does nothing if memory is not limited. Call it before parameters are sharded.
void limit_rank(const ProgramMemory& memory);

}  // namespace phi
