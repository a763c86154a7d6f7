// ProgramState: the steps of a captured program and the state of its buffers on this rank. The
// parts of an executor share it: planning (plan_program.h), binding (bind_buffers.h), swapping
// (swap_parameter.h), running (run_steps.h) and graph replay (program_replay.h).
#pragma once

#include <memory>
#include <vector>

#include "api/capture/flatten.h"
#include "phi/memory/plan/swap_program.h"

namespace phi {

/// A buffer of the program: its use, which is fixed, and where it is stored.
struct BufferState {
  // A step's array whose storage changes between runs.
  struct Patch {
    DenseTensor* array;
    size_t offset;  // of the array in the buffer
  };

  size_t nbytes = 0;
  IntrusivePtr<Storage> external;  // of a parameter or constant at the capture; otherwise null
  bool is_input = false;
  bool is_output = false;
  bool is_written = false;            // by some step
  memory::SwapBufferId planned = -1;  // index in the plan; -1: not part of it
  std::vector<Patch> patches;         // if it is not in the plan
  IntrusivePtr<Storage> storage;      // of this run, or the parameter's
  size_t offset = 0;                  // in `storage`
  IntrusivePtr<Storage> fixed;        // its place in runs that launch graphs; null if none

  bool is_port() const { return is_input || is_output; }
  bool is_planned() const { return planned >= 0; }
  /// Places the buffer at `offset` in `new_storage`, for all steps that use it.
  void bind(const IntrusivePtr<Storage>& new_storage, size_t new_offset);
};

/// A parameter or constant.
struct ExternalState {
  ir::BufferId buffer = ir::kNoBuffer;
  Tensor handle;         // undefined: only steps use it
  uint32_t version = 0;  // of the value in the engine: the storage's version + 1; 0: none
  std::shared_ptr<const Storage::Source> initial = nullptr;  // of a constant that is written to
};

struct ProgramState {
  /// Moves the steps out of the recording, unrolls scans, and removes aliases that are not needed.
  explicit ProgramState(std::shared_ptr<ir::Recording> of);

  BufferState& at(ir::BufferId id) { return buffers[ir::index_of(id)]; }
  const BufferState& at(ir::BufferId id) const { return buffers[ir::index_of(id)]; }

  std::shared_ptr<ir::Recording> recording;
  std::vector<ir::RecordedStep> steps;  // no scans
  ir::TracedOps trailing_ops;           // after the last step
  std::vector<BufferState> buffers;     // by BufferId
  std::vector<ir::BufferId> outputs;    // those that each run allocates
  std::vector<ExternalState> externals;

 private:
  void find_ports();
  void find_written();
  void find_externals();
};

}  // namespace phi
