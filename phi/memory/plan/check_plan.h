// Verifies a SwapPlan on its own: what the planner believed is not asked, only what the plan says.
#pragma once

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// Throws Internal, naming the launch, action and buffer, unless for every timing that the plan's
/// order allows
///   - every launch is the program's next step or a legal recomputation, and finds the right
///     version of every operand at its offset;
///   - no two values overlap in the arena, and nothing is overwritten that somebody still reads;
///   - no tier holds more than its limit, transfers under way included;
///   - every given value begins, and every kept value ends, where `start` and `end` say, and both
///     agree for those that are given and kept.
void check_plan(const SwapPlan& plan, const SwapProgram& program);

}  // namespace phi::memory
