// Plans the memory of a captured program: which buffers belong to the swap plan, and how steps use
// them.
#pragma once

#include "api/capture/execution/program_state.h"
#include "api/capture/program_memory.h"

namespace phi {

/// Plans the program's own buffers and, with memory limits, its parameters and constants. Sets
/// BufferState::planned. With limits, transfers that overlap steps become synchronous. Errors:
/// ResourceExhausted if the program cannot run within the limits.
memory::SwapPlan plan_program(ProgramState& program, const ProgramMemory& memory);

}  // namespace phi
