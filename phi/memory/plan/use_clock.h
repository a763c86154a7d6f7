// UseClock: the planner's position in a program, and the next use of each buffer.
#pragma once

#include <vector>

#include "phi/memory/plan/program_index.h"

namespace phi::memory {

/// Step numbers continue into the next run: step num_steps() + i is its step i.
class UseClock {
 public:
  explicit UseClock(const ProgramIndex& index);

  /// The step that runs next.
  int32_t step() const { return step_; }
  void finish_step() { ++step_; }
  void finish_use(SwapBufferId buffer) { ++cursor_[static_cast<size_t>(buffer)]; }

  /// The next access of this run; null if there is none.
  const BufferUse* next_access(SwapBufferId buffer) const;
  /// Whether the buffer's current value is read again or must be kept.
  bool is_needed(SwapBufferId buffer) const;
  /// The step of the next access. For a value that is only kept: its first step of the next run if
  /// that one reads it, otherwise 2 * num_steps().
  int32_t next_use(SwapBufferId buffer) const;
  /// Estimated seconds of compute from the current step to `step`; more than 0 for a later step.
  double seconds_until(int32_t step) const { return time_of(step) - time_of(step_); }

 private:
  double time_of(int32_t step) const;

  const ProgramIndex& index_;
  int32_t step_ = 0;
  std::vector<int32_t> cursor_;  // by buffer: index of the next use
  std::vector<double> time_;     // by step: estimated begin; last: the end of the run
};

}  // namespace phi::memory
