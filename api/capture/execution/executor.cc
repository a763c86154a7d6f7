// The order of a run: bind, swap, run or replay, return the outputs.
#include "api/capture/execution/executor.h"

#include <utility>

#include "api/capture/execution/bind_buffers.h"
#include "api/capture/execution/plan_program.h"
#include "api/capture/execution/swap_parameter.h"
#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"

namespace phi {

Executor::Executor(std::shared_ptr<ir::Recording> recording, const ProgramMemory& memory)
    : program_(std::move(recording)), memory_(memory), plan_(plan_program(program_, memory)) {}

void Executor::allocate() {
  if (arena_) return;
  arena_.emplace(plan_, memory_, program_.steps.size());
  plan_ = {};
  bind_steps(program_, *arena_);
  const bool can_replay = arena_->engine() && !arena_->binds_each_launch() &&
                          !memory_.is_limited() && Device::of(arena_->place()).can_capture();
  if (can_replay) replay_ = std::make_unique<ProgramReplay>(program_, arena_->place());
}

memory::SwapEngineStats Executor::stats() const {
  return arena_ && arena_->engine() ? arena_->engine()->stats() : memory::SwapEngineStats();
}

// The first run launches no graphs, because kernels make one-time allocations in it.
bool Executor::may_replay() const {
  return replay_ && replays_ && has_run_ && replay_->is_usable();
}

// Takes the parameters' current values: the user may have written to them or replaced them.
void Executor::take_externals() {
  for (ExternalState& external : program_.externals) {
    const BufferState& buffer = program_.at(external.buffer);
    if (buffer.is_planned()) {
      if (arena_->engine()) swap_parameter(buffer, external, arena_->engine());
    } else {
      bind_parameter(program_, external);
    }
  }
}

void Executor::make_outputs(bool replays) {
  if (replays) {
    replay_->fix_outputs();
  } else {
    allocate_outputs(program_, arena_->place());
  }
}

void Executor::run_all(const RunLaunch& run, bool replays) {
  if (replays) {
    replay_->run(run);
    arena_->engine()->skip_launches();
    return;
  }
  if (replay_) replay_->skip_run();
  run_in_order(program_, *arena_, run);
}

TensorList Executor::run(const TensorList& inputs) {
  PHI_CHECK(!program_.recording->follows_pass || !RankContext::current().generator().state().pass,
            errors::Unimplemented("a captured program with dropout runs within a micro-batch, but "
                                  "does not know its number; call the function uncaptured, or "
                                  "outside of nn::ForwardContextScope and training.micro_batch."));
  allocate();
  const bool replays = may_replay();
  bind_inputs(program_, inputs);
  take_externals();
  prepare_writes(program_, inputs);
  if (replays) replay_->fix_inputs();
  make_outputs(replays);
  if (arena_->engine()) arena_->engine()->begin_run();
  run_steps(program_, *arena_, [&](const RunLaunch& run) { run_all(run, replays); });
  if (arena_->engine()) arena_->engine()->end_run();
  has_run_ = true;
  note_writes(program_, inputs);
  if (replays) replay_->copy_outputs();
  TensorList outputs = bound_outputs(program_);
  // The program keeps no storage of this run except for the arena.
  unbind_ports(program_);
  return outputs;
}

}  // namespace phi
