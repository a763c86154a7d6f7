// A job's limits for its rank and for its program.
#include "tools/job/memory_limits.h"

#include "phi/core/rank_context.h"

namespace phi::job {

void limit_rank(const MemoryConfig& memory) {
  if (!memory.is_limited()) return;
  RankContext& rank = RankContext::current();
  rank.memory()->set_device_limit(memory.device);
  rank.set_keeps_deferred(true);
}

ProgramMemory program_memory(const MemoryConfig& memory) {
  ProgramMemory out;
  if (!memory.is_limited()) return out;
  constexpr int64_t kWholeDisk = int64_t{1} << 50;  // its file system says when it is full
  out.limits = {.device_bytes = memory.device,
                .host_bytes = memory.host,
                .disk_bytes = memory.disk.empty() ? 0 : kWholeDisk};
  if (!memory.disk.empty()) out.disk_folder = memory.disk;
  return out;
}

}  // namespace phi::job
