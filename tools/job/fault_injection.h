// Fault injection for tests: a rank throws or hangs at a step.
#pragma once

#include <cstdint>
#include <string>

namespace phi::job {

/// Parsed from "RANK:STEP"; a rank of -1 means all.
struct Injection {
  int64_t rank = -1;
  int64_t step = -1;  // never

  bool is_now(int64_t at_step) const;
};

/// An empty flag means never. Errors: UsageError naming the flag.
Injection parse_injection(const char* flag, const std::string& text);

struct Injections {
  Injection error;
  Injection hang;

  /// Throws or hangs if the fault of this rank is due.
  void at(int64_t step) const;
};

}  // namespace phi::job
