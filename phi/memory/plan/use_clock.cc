// Finds next uses by a cursor per buffer.
#include "phi/memory/plan/use_clock.h"

namespace phi::memory {

UseClock::UseClock(const ProgramIndex& index)
    : index_(index), cursor_(static_cast<size_t>(index.num_buffers()), 0) {
  // A least duration, so that steps without an estimate are ordered too.
  constexpr double kLeastStep = 1e-9;
  double time = 0;
  for (const SwapStep& step : index.program().steps) {
    time_.push_back(time);
    time += step.seconds + kLeastStep;
  }
  time_.push_back(time);
}

const BufferUse* UseClock::next_access(SwapBufferId buffer) const {
  const auto uses = index_.uses(buffer);
  const auto at = static_cast<size_t>(cursor_[static_cast<size_t>(buffer)]);
  return at < uses.size() ? &uses[at] : nullptr;
}

bool UseClock::is_needed(SwapBufferId buffer) const {
  const BufferUse* next = next_access(buffer);
  return next ? next->access != BufferAccess::kWrite : index_.keep(buffer);
}

int32_t UseClock::next_use(SwapBufferId buffer) const {
  if (const BufferUse* next = next_access(buffer)) return next->step;
  const auto uses = index_.uses(buffer);
  if (index_.keep(buffer) && index_.given(buffer) && !uses.empty() &&
      uses.front().access != BufferAccess::kWrite) {
    return index_.num_steps() + uses.front().step;
  }
  return 2 * index_.num_steps();
}

double UseClock::time_of(int32_t step) const {
  const int32_t n = index_.num_steps();
  const double run = time_.back();
  if (step <= n) return time_[static_cast<size_t>(step)];
  return step < 2 * n ? run + time_[static_cast<size_t>(step - n)] : 2 * run;
}

}  // namespace phi::memory
