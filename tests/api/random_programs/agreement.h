// Whether all ways to run a case agree: plain and on meshes, called, captured, and captured within
// memory limits; gradients with finite differences.
#pragma once

#include <optional>
#include <string>

#include "case.h"
#include "distributed/comm/world.h"

namespace phi::testing::programs {

struct Failure {
  std::string way;   // "captured on meshes"
  std::string kind;  // "values of result", "error Internal"
  std::string text;

  /// The same thing fails, perhaps with other numbers.
  bool is_like(const Failure& other) const { return way == other.way && kind == other.kind; }
  std::string to_string() const { return way + ": " + kind + ": " + text; }
};

/// The first way that disagrees with the plain function, which is called. Ranks that wait for each
/// other longer than `deadline` have failed.
std::optional<Failure> disagreement(const Case& test, distributed::World::Milliseconds deadline =
                                                          distributed::World::kDefaultDeadline);

/// For a test that was printed: an assertion that there is none.
void expect_agreement(const Case& test);

}  // namespace phi::testing::programs
