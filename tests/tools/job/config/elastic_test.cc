// Meshes of elastic jobs, and of those that are not.
#include "tools/job/config/elastic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_matchers.h"

namespace phi::job {
namespace {

constexpr const char* kTrain = "mode: train\ncheckpoint: {dir: folder}\n";

// "4: dp=2,tp=2", or what the error says.
std::string placed(const std::string& keys, int64_t slots, const std::string& mesh_flag = "") {
  try {
    const auto launch_size =
        choose_launch_size(parse_job(kTrain + keys, "job.yaml"), mesh_flag, slots);
    return launch_size ? fmt::format("{}: {}", launch_size->ranks, launch_size->mesh) : "no room";
  } catch (const Error& error) {
    return words_of(error);
  }
}

TEST(Elastic, DpIsTheMostThatThereIsRoomFor) {
  const std::string job =
      "mesh: {shape: [2, 2], dims: [dp, tp]}\nelastic: {dp: [1, 4]}\n"
      "run: {global_batch: 16, micro_batches: 4}\n";
  EXPECT_EQ(placed(job, 100), "8: dp=4,tp=2");
  EXPECT_EQ(placed(job, 8), "8: dp=4,tp=2");
  EXPECT_EQ(placed(job, 7), "4: dp=2,tp=2") << "3 do not divide the 4 rows";
  EXPECT_EQ(placed(job, 4), "4: dp=2,tp=2");
  EXPECT_EQ(placed(job, 3), "2: dp=1,tp=2");
  EXPECT_EQ(placed(job, 1), "no room");
  EXPECT_EQ(placed(job, 8, "tp=4,dp=1"), "8: tp=4,dp=2") << "in the order of the flag";
}

TEST(Elastic, RangesBoundIt) {
  const std::string job = "run: {global_batch: 24, micro_batches: 2}\nelastic: {dp: [2, 6]}\n";
  EXPECT_EQ(placed(job, 12), "6: dp=6") << "without a mesh dp is all";
  EXPECT_EQ(placed(job, 5), "4: dp=4");
  EXPECT_EQ(placed(job, 1), "no room");
  EXPECT_EQ(placed("run: {global_batch: 8, micro_batches: 2}\nelastic: {dp: [3, 3]}\n", 8),
            "no room");
}

TEST(Elastic, TheBatchStays) {
  JobConfig config = parse_job(
      std::string(kTrain) + "run: {global_batch: 4, micro_batches: 2}\nelastic: {dp: [1, 9]}\n",
      "job.yaml");
  EXPECT_EQ(choose_launch_size(config, "", 9)->ranks, 2) << "as many as a micro-batch has rows";
}

TEST(Elastic, OtherJobsHaveTheirMesh) {
  const std::string job = "mesh: {shape: [2, 2], dims: [dp, tp]}\n";
  EXPECT_EQ(placed(job, 4), "4: ");
  EXPECT_EQ(placed(job, 9), "4: ");
  EXPECT_EQ(placed(job, 3), "no room");
  EXPECT_EQ(placed(job, 3, "dp=2"), "2: dp=2");
  EXPECT_EQ(placed("", 3), "3: ");
}

TEST(Elastic, WhatDoesNotFitIsNamed) {
  using ::testing::HasSubstr;
  EXPECT_THAT(placed("elastic: {dp: [1, 2]}\nmesh: {shape: [2], dims: [tp]}\n", 4),
              HasSubstr("job.yaml:3: key 'elastic.dp': the mesh tp=2 has no dim dp"));
  EXPECT_THAT(placed("elastic: {dp: [4, 1]}\n", 4),
              HasSubstr("key 'elastic.dp': must be the least and the most extent of dp, e.g. [1, "
                        "4]; got [4, 1]"));
  EXPECT_THAT(placed("elastic: {dp: [4]}\n", 4), HasSubstr("got [4]"));
  EXPECT_THAT(placed("mesh: {shape: [2], dims: [pp]}\nmodel: {layers: 1}\n", 4),
              HasSubstr("1 layers are fewer than the 2"));
}

}  // namespace
}  // namespace phi::job
