// Recomputation of values, if it costs less than to write and read them.
#include <algorithm>

#include "phi/memory/plan/swap_planner.h"

namespace phi::memory {

int32_t SwapPlanner::maker_of(SwapBufferId buffer) const {
  const auto uses = index_.uses(buffer);
  const BufferUse* next = clock_.next_access(buffer);
  if (!next) return kNone;
  for (const BufferUse* use = next; use != uses.data();) {
    --use;
    if (use->access == BufferAccess::kUpdate) return kNone;
    if (use->access == BufferAccess::kWrite) return use->step;
  }
  return kNone;
}

bool SwapPlanner::input_lasts(SwapBufferId input, int32_t maker, int32_t use) const {
  for (const BufferUse& other : index_.uses(input)) {
    if (other.step <= maker) continue;
    if (other.step >= use) return other.access != BufferAccess::kWrite;
    if (other.access != BufferAccess::kRead) return false;
  }
  return index_.keep(input);
}

bool SwapPlanner::can_recompute(SwapBufferId buffer) const {
  const int32_t maker = maker_of(buffer);
  if (maker == kNone || state(buffer).dependents > 0) return false;
  if (!index_.program().steps[static_cast<size_t>(maker)].repeatable) return false;
  const int32_t use = clock_.next_access(buffer)->step;
  if (use == clock_.step()) return false;
  for (const SwapOperand& operand : index_.operands(maker)) {
    if (operand.buffer == buffer || index_.is_scratch(operand.buffer)) continue;
    if (operand.access != BufferAccess::kRead || state(operand.buffer).recompute) return false;
    if (!input_lasts(operand.buffer, maker, use)) return false;
  }
  return recompute_seconds(maker, use) <
         2 * options_.costs.seconds(Tier::kDevice, Tier::kHost, index_.nbytes(buffer));
}

double SwapPlanner::recompute_seconds(int32_t maker, int32_t use) const {
  double seconds = index_.program().steps[static_cast<size_t>(maker)].seconds;
  const auto there = index_.operands(use);
  for (const SwapOperand& input : index_.operands(maker)) {
    const bool is_there = std::any_of(there.begin(), there.end(), [&](const SwapOperand& other) {
      return other.buffer == input.buffer;
    });
    if (input.access != BufferAccess::kRead || is_there) continue;
    seconds += options_.costs.seconds(Tier::kHost, Tier::kDevice, index_.nbytes(input.buffer));
  }
  return seconds;
}

void SwapPlanner::drop_for_recompute(SwapBufferId buffer) {
  state(buffer).recompute = true;
  for (const SwapOperand& operand : index_.operands(maker_of(buffer))) {
    if (operand.access == BufferAccess::kRead) ++state(operand.buffer).dependents;
  }
}

void SwapPlanner::recompute_missing(int32_t step) {
  for (const SwapOperand& operand : index_.operands(step)) {
    if (state(operand.buffer).recompute) recompute_value(maker_of(operand.buffer));
  }
}

void SwapPlanner::recompute_value(int32_t maker) {
  pin(maker);
  for (const SwapOperand& operand : index_.operands(maker)) bring(operand.buffer, operand.access);
  launch(maker, true);
  for (const SwapOperand& operand : index_.operands(maker)) {
    State& at = state(operand.buffer);
    if (operand.access == BufferAccess::kRead) {
      --at.dependents;
    } else if (index_.is_scratch(operand.buffer)) {
      end_value(operand.buffer);
    } else {
      at.written = true;
      at.recompute = false;
    }
  }
}

}  // namespace phi::memory
