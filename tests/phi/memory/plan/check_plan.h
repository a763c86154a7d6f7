// check_plan: verifies a SwapPlan from its contents alone, independently of the planner.
#pragma once

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// Verifies the following for every timing that the plan's order allows. Errors: Internal, naming
/// the launch, action and buffer.
///
/// - Every launch is the program's next step or a legal recomputation, and finds the right version
///   of every operand at its offset.
/// - No two values overlap in the arena, and no value is overwritten while it is read.
/// - No tier holds more than its limit, including transfers in flight.
/// - Every given value begins where `start` states, and every kept value ends where `end` states.
///   Both are equal for values that are given and kept.
void check_plan(const SwapPlan& plan, const SwapProgram& program);

}  // namespace phi::memory
