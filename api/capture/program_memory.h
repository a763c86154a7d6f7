// The memory limits of a captured program, by tier.
#pragma once

#include <memory>
#include <string>

#include "phi/memory/plan/swap_plan.h"

namespace phi {

namespace distributed::simulator {
struct MachineModel;
}

struct ProgramMemory {
  /// Limits in bytes, for this rank. If the device is unlimited (the default), nothing is swapped.
  memory::MemoryLimits limits;
  /// The folder of the disk tier's temporary file.
  std::string disk_folder = "/tmp";
  /// The machine on which the program runs: how long its steps take, which decides when transfers
  /// begin. Null: one core of a CPU (plan_program.cc).
  std::shared_ptr<const distributed::simulator::MachineModel> machine = nullptr;

  bool is_limited() const { return limits.device_bytes != memory::kUnlimited; }
};

/// Limits the device memory of the calling rank, and keeps deferred tensors deferred until they are
/// needed. Does nothing if memory is not limited. Call it before parameters are sharded.
void limit_rank(const ProgramMemory& memory);

}  // namespace phi
