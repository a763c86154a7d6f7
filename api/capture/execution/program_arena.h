// ProgramArena: the device memory that a captured program's plan places buffers in, and the engine
// that moves them. The arena is charged to the rank's memory account.
#pragma once

#include <memory>

#include "api/capture/program_memory.h"
#include "phi/core/storage/storage.h"
#include "phi/memory/engine/swap_engine.h"

namespace phi {

class ProgramArena {
 public:
  /// `num_steps`: the program's number of steps. Errors: ResourceExhausted if the rank's limit has
  /// no room for the arena; those of SwapEngine.
  ProgramArena(memory::SwapPlan plan, const ProgramMemory& memory, size_t num_steps);
  ~ProgramArena();
  ProgramArena(const ProgramArena&) = delete;
  ProgramArena& operator=(const ProgramArena&) = delete;

  const memory::SwapPlan& plan() const { return engine_->plan(); }
  const Place& place() const { return engine_->place(); }
  /// Shared with swapped-out tensors, which may outlive the program.
  const std::shared_ptr<memory::SwapEngine>& engine() const { return engine_; }
  const IntrusivePtr<Storage>& storage() const { return storage_; }
  /// Whether a step may have other addresses in each of its launches, because the plan repeats
  /// steps.
  bool binds_each_launch() const { return binds_each_launch_; }

 private:
  bool binds_each_launch_;
  std::shared_ptr<memory::SwapEngine> engine_;
  IntrusivePtr<Storage> storage_;
  IntrusivePtr<MemoryAccount> charged_;
};

}  // namespace phi
