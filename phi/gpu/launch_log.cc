// Formats the log of launches.
#include "phi/gpu/launch_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace phi::gpu {

std::string LaunchLog::describe() const {
  const uint64_t count = count_.load(std::memory_order_relaxed);
  std::vector<const char*> names;
  for (uint64_t at = count - std::min<uint64_t>(count, kKept); at < count; ++at) {
    const char* op = ops_[at % kKept].load(std::memory_order_relaxed);
    names.push_back(op != nullptr ? op : "(outside of an operator)");
  }
  if (names.empty()) return "none";
  return fmt::format("{} (the last of {})", fmt::join(names, ", "), count);
}

}  // namespace phi::gpu
