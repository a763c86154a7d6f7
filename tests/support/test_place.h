// Where a test program's tensors lie and its operators run: AUTOPHI_TEST_PLACE=guarded | gpu
// in the environment; without it the CPU. A guarded device runs the CPU's kernels on memory that
// host code cannot reach (guarded_device.h). Include it in one source of a program whose tests ask
// for values as `to_vector` gives them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "phi/core/rank_context.h"
#include "tests/support/guarded_device.h"

namespace phi::testing {

class TestPlaceEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* const named = std::getenv("AUTOPHI_TEST_PLACE");
    if (!named) return;
    const std::string_view place = named;
    ASSERT_TRUE(place == "guarded" || place == "gpu") << "AUTOPHI_TEST_PLACE=" << place;
    RankContext::current().set_place(place == "gpu" ? GPUPlace(0) : guarded_device(0));
  }
};
inline auto* const place_of_tests = ::testing::AddGlobalTestEnvironment(new TestPlaceEnvironment);

}  // namespace phi::testing
