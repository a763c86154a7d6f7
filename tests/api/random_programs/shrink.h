// Makes a program smaller while it still fails in the same way.
#pragma once

#include <functional>

#include "program.h"

namespace phi::testing::programs {

/// The smallest program found: fewer statements, results, things given, meshes and ranks, smaller
/// extents. `fails` is asked of programs that the rules have only, at most `tries` times.
RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
                     int tries = 1500);

}  // namespace phi::testing::programs
