// What a build without NCCL says, and how to go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/world.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

TEST(WithoutNccl, SaysHowToGetIt) {
  EXPECT_FALSE(has_nccl());
  for (const char* words :
       {"this build has no NCCL", "tools/setup --cuda installs it", "messages: host of a job"}) {
    EXPECT_THAT([] { make_nccl_communicator(World::current(), GPUPlace(0), GpuReduction::kExact); },
                ThrowsError(ErrorCode::kUnavailable, words));
  }
}

}  // namespace
}  // namespace phi::distributed
