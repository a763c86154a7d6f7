// The reshard command: what it prints, and its errors.
#include "tools/reshard_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_command.h"

namespace {

using ::testing::HasSubstr;

using Result = phi::testing::Printed;

Result run(std::vector<std::string> words) {
  words.insert(words.begin(), "reshard");
  return phi::testing::run_command(reshard_command, std::move(words));
}

TEST(ReshardCommand, PrintsThePlan) {
  const Result r = run({"--shape=64x32", "--mesh=2x4", "--src=[S0,R]", "--dst=[R,S1]"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("1. all_to_all over d0,d1"));
  EXPECT_THAT(r.out, HasSubstr("1024 bytes per rank"));
}

TEST(ReshardCommand, AcrossMeshesWithOneRanksView) {
  const Result r = run({"--shape=8", "--mesh=tp=4", "--src=[P(sum)]", "--dst=[S0]", "--dst_mesh=2",
                        "--dst_ranks=4,5", "--rank=4", "--dtype=float64"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("1. reduce_scatter(sum) over tp"));
  EXPECT_THAT(r.out, HasSubstr("2. send_recv"));
  EXPECT_THAT(r.out, HasSubstr("[0:2] from rank 0"));
}

TEST(ReshardCommand, ScalarsAndEqualAttrs) {
  const Result r = run({"--shape=scalar", "--mesh=2", "--src=[R]", "--dst=[R]"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("nothing to do"));
}

TEST(ReshardCommand, ErrorsSayWhatToWrite) {
  const struct {
    std::vector<std::string> words;
    int status;
    const char* message;
  } rows[] = {
      {{}, 2, "--mesh is missing; pass --mesh=2x4 or --mesh=dp=2,tp=4."},
      {{"--mesh=2"}, 2, "--shape is missing; pass --shape=64x32, or --shape=scalar."},
      {{"--mesh=2", "--shape=4xx"}, 2, "'' in --shape is no number"},
      {{"--mesh=2", "--shape=4"}, 2, "pass --src="},
      {{"--mesh=2", "--shape=4", "--src=[Q]", "--dst=[R]"}, 2, "'Q' in --src is no placement"},
      {{"--mesh=2", "--shape=4", "--src=[R,R]", "--dst=[R]"},
       2,
       "--src has 2 placements, but mesh(d0=2) has 1 mesh dims"},
      {{"--mesh=2", "--shape=-4"}, 2, "--shape=-4 has a negative extent."},
      {{"--mesh=2", "--shape=4294967296x4294967296", "--src=[R]", "--dst=[S0]"},
       1,
       "[4294967296,4294967296] is too large"},
      {{"--mesh=2", "--shape=4294967296x1073741824", "--src=[R]", "--dst=[S0]"},
       1,
       "with 4 bytes per element is too large"},
      {{"--mesh=9223372036854775807", "--shape=4", "--src=[R]", "--dst=[R]"},
       1,
       "a mesh has at most 2147483647 ranks"},
      {{"--mesh=2147483647", "--shape=4", "--src=[R]", "--dst=[R]"},
       2,
       "--mesh=2147483647 has rank 2147483646; ranks must be less than 65536"},
      {{"--mesh=2", "--shape=4", "--src=[P(mean)]", "--dst=[R]"}, 1, "mean"},
      {{"--mesh=2", "--shape=4", "--src=[R]", "--dst=[S1]"}, 1, "shards tensor dim 1"},
      {{"--mesh=0", "--shape=4", "--src=[R]", "--dst=[R]"}, 1, "mesh"},
      {{"--mesh=2", "--shape=4", "--src=[R]", "--dst=[R]", "--dtype=float33"}, 1, "float33"},
      {{"--mesh=2", "--shappe=4"}, 2, "did you mean 'shape'"},
      {{"--mesh=2", "what"}, 2, "the argument 'what' is unknown"},
      {{"--mesh=2", "--shape=4", "--src=[R]", "--dst=[R]", "--dst_ranks=1"}, 1, "rank"},
  };
  for (const auto& row : rows) {
    const Result r = run(row.words);
    EXPECT_EQ(r.status, row.status) << r.err;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
