// Executor: runs the steps of a captured program on this rank, in order, on buffers whose locations
// were planned once (phi/memory/plan/swap_plan.h). Without a memory limit the program's own tensors
// share one arena by liveness, and parameters keep their storages. Under a limit the plan also
// places parameters and constants, on the device, on the host or on disk, and moves them while
// steps run.
#pragma once

#include <memory>
#include <optional>

#include "api/capture/execution/program_arena.h"
#include "api/capture/execution/program_replay.h"
#include "api/capture/execution/program_state.h"
#include "api/capture/program_memory.h"

namespace phi {

class Executor {
 public:
  /// Takes over the recording's steps and plans them. The first run allocates the arena. Errors:
  /// ResourceExhausted if the steps cannot run within the limits.
  Executor(std::shared_ptr<ir::Recording> recording, const ProgramMemory& memory);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  TensorList run(const TensorList& inputs);
  /// Sets whether steps may be launched as graphs that the device has captured (default: true).
  void set_replays(bool replays) { replays_ = replays; }
  const memory::SwapPlan& plan() const { return arena_ ? arena_->plan() : plan_; }
  memory::SwapEngineStats stats() const;

 private:
  void allocate();
  bool may_replay() const;
  void take_externals();
  void make_outputs(bool replays);
  void run_all(const RunLaunch& run, bool replays);

  ProgramState program_;
  const ProgramMemory memory_;
  memory::SwapPlan plan_;                  // until the arena is allocated
  std::optional<ProgramArena> arena_;      // from the first run on
  std::unique_ptr<ProgramReplay> replay_;  // null: steps run one by one
  bool replays_ = true;
  bool has_run_ = false;
};

}  // namespace phi
