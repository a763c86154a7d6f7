// Faults that tests ask for: a rank that throws, or stops answering, at a step.
#pragma once

#include <cstdint>
#include <string>

namespace phi::job {

/// "RANK:STEP", a rank of -1 being all.
struct Injection {
  int64_t rank = -1;
  int64_t step = -1;  // never

  bool is_now(int64_t at_step) const;
};

/// Never where the flag is empty. Errors: UsageError naming the flag.
Injection parse_injection(const char* flag, const std::string& text);

struct Injections {
  Injection error;
  Injection hang;

  /// Throws, or does not come back, if it is this rank's turn.
  void at(int64_t step) const;
};

}  // namespace phi::job
