// Which stages are shortened, and that jobs whose layers may differ are left whole.
#include "tools/job/shorten_other_stages.h"

#include <gtest/gtest.h>

#include <vector>

namespace phi::job {
namespace {

JobConfig job_of_eight_layers() {
  return parse_job(R"(
mode: train
model: {layers: 8, d_model: 32, heads: 4}
mesh: {shape: [4], dims: [pp]}
pipeline: {cut: [3, 2, 2, 1]}
)",
                   "job.yaml");
}

TEST(ShortenOtherStages, OnlyTheRanksOwnStageKeepsItsLayers) {
  const JobConfig job = job_of_eight_layers();
  const auto first = shorten_other_stages(job, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->config.pipeline.cut, (std::vector<int64_t>{3, 1, 1, 1}));
  EXPECT_EQ(first->config.model.values.size("layers"), 6);
  EXPECT_EQ(first->links, (std::vector<int64_t>{0, 1, 2, 3, 4, 6, 8, 9}));
  const auto third = shorten_other_stages(job, 2);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->config.pipeline.cut, (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(third->links, (std::vector<int64_t>{0, 1, 4, 6, 7, 8, 9}));
}

TEST(ShortenOtherStages, AStageOfSeveralChunksKeepsTheLayersOfAll) {
  JobConfig job = job_of_eight_layers();
  job.mesh = {{2}, {"pp"}};
  job.run.chunks = 2;
  job.pipeline.cut = {1, 2, 3, 2};
  const auto last = shorten_other_stages(job, 1);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->config.pipeline.cut, (std::vector<int64_t>{1, 2, 1, 2}));
  EXPECT_EQ(last->config.model.values.size("layers"), 6);
  EXPECT_EQ(last->links, (std::vector<int64_t>{0, 1, 2, 3, 4, 7, 8, 9}));
}

TEST(ShortenOtherStages, RowsOfAllLayersAreNoReasonToKeepThem) {
  JobConfig placed = job_of_eight_layers();
  placed.placements.parameters("layer*.up.weight", {}).parameters("head", {}).outputs("*.down", {});
  EXPECT_TRUE(treats_layers_alike(placed.placements));
  EXPECT_TRUE(shorten_other_stages(placed, 0));
  for (const char* pattern : {"layer3", "layer?.up.weight", "*2.up.weight"})
    EXPECT_FALSE(treats_layers_alike(nn::Layout().parameters(pattern, {}))) << pattern;
}

TEST(ShortenOtherStages, JobsWhoseLayersMayDifferAreWhole) {
  JobConfig library = job_of_eight_layers();
  library.models = {"my_models.so"};
  EXPECT_FALSE(shorten_other_stages(library, 0));
  JobConfig placed = job_of_eight_layers();
  placed.placements.parameters("layer3.up.weight", {});
  EXPECT_FALSE(shorten_other_stages(placed, 0));
  JobConfig captured = job_of_eight_layers();
  captured.run.capture = true;
  EXPECT_FALSE(shorten_other_stages(captured, 0));
}

}  // namespace
}  // namespace phi::job
