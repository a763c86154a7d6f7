// Fault injection.
#include "tools/job/fault_injection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "distributed/api.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"

namespace phi::job {

bool Injection::is_now(int64_t at_step) const {
  return step == at_step && (rank == -1 || rank == distributed::rank());
}

Injection parse_injection(const char* flag, const std::string& text) {
  Injection out;
  if (text.empty()) return out;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, out.rank);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  if (colon) {
    const auto second = std::from_chars(first.ptr + 1, end, out.step);
    if (second.ec == std::errc() && second.ptr == end) return out;
  }
  throw cli::UsageError(fmt::format("--{} expects RANK:STEP, e.g. 1:2, got '{}'.", flag, text));
}

void Injections::at(int64_t step) const {
  if (error.is_now(step)) {
    throw errors::Internal("this failure is requested by --inject_error={}:{}.", error.rank,
                           error.step);
  }
  while (hang.is_now(step)) pause();
}

}  // namespace phi::job
