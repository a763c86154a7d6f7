// Executor: runs the steps of a captured program on this rank, in order, on buffers whose locations
// were planned once (phi/memory/plan/swap_plan.h). Without a memory limit the program's own tensors
// share one arena by liveness, and parameters keep their storages. Under a limit the plan also
// places parameters and constants, on the device, on the host or on disk, and moves them while
// steps run.
#pragma once

#include <memory>
#include <vector>

#include "api/capture/flatten.h"
#include "api/capture/program_memory.h"
#include "api/capture/replay.h"
#include "phi/memory/engine/swap_engine.h"

namespace phi {

class Executor {
 public:
  /// Takes over the recording's steps. Errors: ResourceExhausted if they cannot run within the
  /// limits.
  Executor(std::shared_ptr<ir::Recording> recording, const ProgramMemory& memory);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  TensorList run(const TensorList& inputs);
  /// Sets whether steps may be launched as graphs that the device has captured (default: true).
  void set_replays(bool replays) { replays_ = replays; }
  const memory::SwapPlan& plan() const { return engine_->plan(); }
  memory::SwapEngineStats stats() const { return engine_->stats(); }

 private:
  // A step's array whose storage changes between runs.
  struct Patch {
    DenseTensor* array;
    size_t offset;  // of the array in its buffer
  };
  // A parameter or constant.
  struct External {
    int buffer = -1;
    Tensor handle;  // undefined: only steps use it
    bool is_written = false;
    uint32_t version = 0;                                      // of the value in the engine
    std::shared_ptr<const Storage::Source> initial = nullptr;  // of a constant that is written to
  };

  bool is_planned(int buffer) const { return planned_[static_cast<size_t>(buffer)] >= 0; }
  void find_ports();
  void find_externals();
  void leave_nothing_under_way();
  memory::SwapPlan make_plan();
  void plan_buffers();
  memory::SwapProgram swap_program();
  memory::SwapStep swap_step(const ir::RecordedStep& step) const;
  int64_t bytes_outside_of_plan() const;
  void bind_arrays();
  void bind_planned(ir::RecordedStep& step, int32_t launch);
  void give(int buffer, const IntrusivePtr<Storage>& storage, size_t offset);
  void make_replay();
  bool may_replay() const;
  void fix_inputs();
  void make_outputs(bool replays);
  void hand_out_outputs();
  const IntrusivePtr<Storage>& fixed(int buffer);
  std::optional<Replay::Addresses> addresses_of(size_t begin, size_t end) const;
  void take_inputs(const TensorList& inputs);
  void take_externals();
  void take_planned(External& external);
  void copy_back_writes(const TensorList& inputs);
  void note_writes(const TensorList& inputs);
  Tensor external_output(const ir::Port& port) const;
  TensorList take_outputs() const;
  void run_steps(bool replays);
  void run_all(const std::function<void(int32_t launch)>& run, bool replays);

  std::shared_ptr<ir::Recording> recording_;
  ir::FlatProgram program_;
  ProgramMemory memory_;
  std::vector<bool> is_port_;      // by buffer: an input or an output
  std::vector<bool> is_written_;   // by buffer: by some step
  std::vector<int> made_per_run_;  // buffers of outputs
  std::vector<External> externals_;
  std::vector<memory::BufferId> planned_;        // by buffer: its number in the plan, or -1
  std::vector<size_t> offsets_;                  // by buffer, in its storage
  std::vector<std::vector<Patch>> patches_;      // by buffer, if it is not in the plan
  std::vector<IntrusivePtr<Storage>> storages_;  // by buffer: of this run, or the parameter's
  std::shared_ptr<memory::SwapEngine> engine_;   // shared with swapped-out tensors
  IntrusivePtr<Storage> arena_;
  IntrusivePtr<MemoryAccount> charged_;  // with the arena
  bool binds_each_launch_ = false;       // a repeated step may have other addresses
  // Captured graphs contain addresses, so inputs and outputs are copied to and from fixed memory of
  // the program.
  std::unique_ptr<Replay> replay_;            // null: steps run one by one
  std::vector<IntrusivePtr<Storage>> fixed_;  // by buffer
  std::vector<bool> is_output_;               // by buffer
  bool replays_ = true;
  bool tf32_ = false;  // the rank's setting when the graphs were captured
  bool has_run_ = false;
};

}  // namespace phi
