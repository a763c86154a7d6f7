// What a captured program may hold, by tier.
#pragma once

#include <string>

#include "phi/memory/plan/swap_plan.h"

namespace phi {

struct ProgramMemory {
  /// Bytes of this rank. Unlimited on the device (the default): nothing is swapped.
  memory::MemoryLimits limits;
  /// Where the temporary file of the disk tier is made.
  std::string disk_folder = "/tmp";

  bool is_limited() const { return limits.device_bytes != memory::kUnlimited; }
};

/// The calling rank holds no more on its device from here on, and what is deferred stays so until
/// it is needed. Nothing where memory is not limited. Call it before parameters are laid out.
void limit_rank(const ProgramMemory& memory);

}  // namespace phi
