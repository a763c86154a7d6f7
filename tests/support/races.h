// Tests of races: many threads at once, again and again with other seeds.
//
//   for_each_seed(100, [&](uint64_t seed) {
//     at_once(8, [&](int thread) { storage->materialise(); });
//     EXPECT_EQ(source->reads, 1);
//   });
//
// The seed says where threads give way (phi/common/process/yield_point.h) in a build with
// AUTOPHI_YIELDS, and what a test draws in any build. A failing seed is printed; with
// AUTOPHI_SEED=N in the environment only N is run. A test says right or wrong by what must hold in
// any order of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace phi::testing {

/// Runs `body` with one seed after the other, up to the first that fails: `with_yields` of them in
/// a build that has yields, and a few in others.
void for_each_seed(int with_yields, const std::function<void(uint64_t seed)>& body);

/// Runs `body` on `threads` threads, which begin together, each with a rank context of its own. An
/// exception of one is a failure of the test.
void at_once(int threads, const std::function<void(int thread)>& body);

}  // namespace phi::testing
