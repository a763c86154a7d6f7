// Whether all ways to run a case agree: plain and on meshes, called, captured, and captured within
// memory limits; gradients with finite differences.
#pragma once

#include <optional>

#include "case.h"
#include "distributed/comm/world.h"
#include "failure.h"

namespace phi::testing::programs {

/// The first way that disagrees with the plain function, which is called. Ranks that wait for each
/// other longer than `deadline` have failed.
std::optional<Failure> disagreement(const Case& test, distributed::World::Milliseconds deadline =
                                                          distributed::World::kDefaultDeadline);

/// For a test that was printed: an assertion that there is none.
void expect_agreement(const Case& test);

}  // namespace phi::testing::programs
