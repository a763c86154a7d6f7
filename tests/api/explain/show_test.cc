// show(x): pictures of handles. Pictures themselves are tests/distributed/placement/picture_test's.
#include "api/explain/show.h"

#include <gmock/gmock.h>

#include "api/generated/ops/full.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::run_ranks;
using distributed::Shard;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Show, ATensorOfOtherRanksTooIsDrawnEverywhere) {
  run_ranks(3, [](distributed::World&) {
    const ProcessMesh pair({2}, {"tp"}, {0, 2});
    const Tensor x = distributed::shard_tensor(full({5, 2}, 1.0f), pair, {Shard(0)});
    const std::string text = show(x, /*colours=*/false);
    EXPECT_THAT(text, HasSubstr("tensor [5,2] [S0] on mesh(tp=2; ranks 0,2)"));
    EXPECT_THAT(text, HasSubstr("rank 2 (tp=1): [3:5,0:2], 4 elements"));
    EXPECT_THAT(text, HasSubstr("rank 1: outside the mesh, no elements"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b[")));
    EXPECT_THAT(show(x, /*colours=*/true), HasSubstr("\x1b["));
  });
}

TEST(Show, APlainTensorIsALine) {
  EXPECT_EQ(show(full({2, 3}, 1.0f)),
            "plain tensor f32[2,3]: each rank that has it holds all of its 6 elements\n");
}

TEST(Show, AnUndefinedTensorIsRefused) {
  EXPECT_THAT([] { show(Tensor()); },
              testing::Throws<Error>(testing::Property(
                  &Error::what, HasSubstr("an undefined tensor lies nowhere to be shown"))));
}

}  // namespace
}  // namespace phi
