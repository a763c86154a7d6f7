// UseClock: how far a planner has come in a program, and when each buffer is used next.
#pragma once

#include <vector>

#include "phi/memory/plan/program_index.h"

namespace phi::memory {

/// Steps are counted on beyond the end of the run: step num_steps() + i is step i of the next run.
class UseClock {
 public:
  explicit UseClock(const ProgramIndex& index);

  /// The step that runs next.
  int32_t step() const { return step_; }
  void finish_step() { ++step_; }
  void finish_use(BufferId buffer) { ++cursor_[static_cast<size_t>(buffer)]; }

  /// The next access of this run; null if there is none.
  const BufferUse* next_access(BufferId buffer) const;
  /// The value that the buffer has now, or would have, is read again or must be kept.
  bool is_needed(BufferId buffer) const;
  /// When a value that is needed is read next; 2 * num_steps() for one that is only kept.
  int32_t next_use(BufferId buffer) const;
  /// Estimated seconds of compute from the current step to `step`; more than 0 for a later step.
  double seconds_until(int32_t step) const { return time_of(step) - time_of(step_); }

 private:
  double time_of(int32_t step) const;

  const ProgramIndex& index_;
  int32_t step_ = 0;
  std::vector<int32_t> cursor_;  // by buffer, in its uses
  std::vector<double> time_;     // by step, and of the end
};

}  // namespace phi::memory
