// The section `memory` of a job, put to work.
#pragma once

#include "api/capture/program_memory.h"
#include "tools/job/config.h"

namespace phi::job {

/// The calling rank holds no more on its device from here on, and what is deferred stays so until
/// it is needed. Nothing without a limit.
void limit_rank(const MemoryConfig& memory);
/// For the program of a step.
ProgramMemory program_memory(const MemoryConfig& memory);

}  // namespace phi::job
