// Applies a program's memory limits to the calling rank.
#include "api/capture/program_memory.h"

#include "phi/core/rank_context.h"

namespace phi {

void limit_rank(const ProgramMemory& memory) {
  if (!memory.is_limited()) return;
  RankContext& rank = RankContext::current();
  rank.memory()->set_device_limit(memory.limits.device_bytes);
  rank.set_keeps_deferred(true);
}

}  // namespace phi
