// Executor: runs the steps of a captured program on this rank, in order, on buffers whose locations
// were planned once (phi/memory/plan/swap_plan.h). Without a memory limit the program's own tensors
// share one arena by liveness, and parameters keep their storages. Under a limit the plan also
// places parameters and constants, on the device, on the host or on disk, and moves them while
// steps run.
#pragma once

#include <memory>

#include "api/capture/execution/program_arena.h"
#include "api/capture/execution/program_replay.h"
#include "api/capture/execution/program_state.h"
#include "api/capture/program_memory.h"

namespace phi {

class Executor {
 public:
  /// Takes over the recording's steps. Errors: ResourceExhausted if they cannot run within the
  /// limits.
  Executor(std::shared_ptr<ir::Recording> recording, const ProgramMemory& memory);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  TensorList run(const TensorList& inputs);
  /// Sets whether steps may be launched as graphs that the device has captured (default: true).
  void set_replays(bool replays) { replays_ = replays; }
  const memory::SwapPlan& plan() const { return arena_.plan(); }
  memory::SwapEngineStats stats() const { return arena_.engine()->stats(); }

 private:
  bool may_replay() const;
  void take_externals();
  void make_outputs(bool replays);
  void run_all(const RunLaunch& run, bool replays);

  ProgramState program_;
  ProgramArena arena_;
  std::unique_ptr<ProgramReplay> replay_;  // null: steps run one by one
  bool replays_ = true;
  bool has_run_ = false;
};

}  // namespace phi
