// A life of a case: parameters made, the function run three times with other inputs, parameters
// changed by the function, and by the user in between. The same life can be lived in several ways.
#pragma once

#include "record.h"
#include "site.h"

namespace phi::testing::programs {

enum class Way {
  kCalled,    // the function itself
  kCaptured,  // its program
  kLimited,   // its program, in as little memory as it can run in
};

inline constexpr int kRuns = 3;

/// The tensor number `number`, as run `run` is given it; of a parameter before the first run.
Tensor make_given(const Case& test, const Given& given, int number, int run,
                  const Site::Meshes* meshes);

/// On the calling rank. `meshes`: null for plain tensors. `graphs`: programs may be launched as
/// CUDA graphs, which ranks that share a GPU cannot. Errors: what the function throws.
Record live(const Case& test, const Site::Meshes* meshes, Way way, bool graphs = true);

}  // namespace phi::testing::programs
