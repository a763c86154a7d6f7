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
  /// `num_steps`: the program's number of steps. In a dry run the arena is only counted, and has no
  /// engine. Errors: ResourceExhausted if the rank's limit has no room for the arena; those of
  /// SwapEngine.
  ProgramArena(memory::SwapPlan plan, const ProgramMemory& memory, size_t num_steps);
  ~ProgramArena();
  ProgramArena(const ProgramArena&) = delete;
  ProgramArena& operator=(const ProgramArena&) = delete;

  const memory::SwapPlan& plan() const { return engine_ ? engine_->plan() : planned_; }
  const Place& place() const { return storage_->place(); }
  /// Shared with swapped-out tensors, which may outlive the program. Null in a dry run.
  const std::shared_ptr<memory::SwapEngine>& engine() const { return engine_; }
  const IntrusivePtr<Storage>& storage() const { return storage_; }
  /// Whether a step may have other addresses in each of its launches, because the plan repeats
  /// steps.
  bool binds_each_launch() const { return binds_each_launch_; }

 private:
  void allocate(memory::SwapPlan plan, const ProgramMemory& memory);

  bool binds_each_launch_;
  memory::SwapPlan planned_;  // of a dry run
  std::shared_ptr<memory::SwapEngine> engine_;
  IntrusivePtr<Storage> storage_;
  IntrusivePtr<MemoryAccount> charged_;  // null in a dry run
};

}  // namespace phi
