// Seeds, threads, and which seed it was when ThreadSanitizer finds something.
#include "support/races.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "phi/common/process/yield_point.h"
#include "phi/core/rank_context.h"

namespace {

std::atomic<uint64_t> current_seed{0};

}  // namespace

// The sanitizer calls it, where there is one, when it has printed a report.
extern "C" void __tsan_on_report(void* /*report*/) {
  fmt::print(stderr, "found with AUTOPHI_SEED={}\n", current_seed.load());
}

namespace phi::testing {

void for_each_seed(int with_yields, const std::function<void(uint64_t seed)>& body) {
  constexpr uint64_t kWithoutYields = 3;
  uint64_t first = 1;
  uint64_t last = kYields ? static_cast<uint64_t>(with_yields) : kWithoutYields;
  if (const char* chosen = std::getenv("AUTOPHI_SEED")) {
    first = last = std::strtoull(chosen, nullptr, 10);
  }
  for (uint64_t seed = first; seed <= last; ++seed) {
    current_seed = seed;
    seed_yields(seed);
    body(seed);
    if (::testing::Test::HasFailure()) {
      fmt::print(stderr, "failed with AUTOPHI_SEED={}\n", seed);
      return;
    }
  }
}

void at_once(int threads, const std::function<void(int thread)>& body) {
  std::latch ready(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      RankContext context(thread, threads);
      const RankContext::Scope scope(context);
      ready.arrive_and_wait();
      try {
        body(thread);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << thread << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace phi::testing
