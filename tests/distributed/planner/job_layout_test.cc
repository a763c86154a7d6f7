// The enumeration of layouts against its definition.
#include "distributed/planner/job_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace phi::distributed {
namespace {

using pipeline::ScheduleKind;

TEST(JobLayout, EveryMeshOfTheDevicesOccurs) {
  std::set<std::vector<int64_t>> meshes;
  for (const JobLayout& layout : all_layouts({.devices = 12, .global_batch = 24, .layers = 4}))
    meshes.insert({layout.dp, layout.pp, layout.tp});
  std::set<std::vector<int64_t>> expected;
  for (int64_t dp = 1; dp <= 12; ++dp) {
    for (int64_t pp = 1; pp <= 4; ++pp) {
      for (int64_t tp = 1; tp <= 12; ++tp) {
        if (dp * pp * tp == 12) expected.insert({dp, pp, tp});
      }
    }
  }
  EXPECT_EQ(meshes, expected);
}

TEST(JobLayout, EachIsLegalAndOccursOnce) {
  std::set<std::string> texts;
  const LayoutSpace space{.devices = 16, .global_batch = 32, .layers = 12};
  const std::vector<JobLayout> layouts = all_layouts(space);
  for (const JobLayout& layout : layouts) {
    EXPECT_TRUE(texts.insert(to_string(layout)).second) << to_string(layout);
    EXPECT_EQ(layout.ranks(), 16);
    EXPECT_EQ(32 % (layout.dp * layout.micro_batches), 0) << to_string(layout);
    EXPECT_LE(layout.pp * layout.chunks, 12) << to_string(layout);
    EXPECT_TRUE(layout.dp > 1 || layout.zero_stage == 0) << to_string(layout);
    EXPECT_TRUE(layout.tp > 1 || !layout.sequence_parallel) << to_string(layout);
    EXPECT_TRUE(layout.pp > 1 || layout.schedule == ScheduleKind::k1F1B) << to_string(layout);
    EXPECT_EQ(layout.chunks > 1, layout.schedule == ScheduleKind::kInterleaved)
        << to_string(layout);
  }
  EXPECT_GT(layouts.size(), 1000U);
}

TEST(JobLayout, ChunksHaveNearlyEqualNumbersOfLayers) {
  // 126 layers: two fewer than 32 chunks of 4, or 64 of 2.
  const LayoutSpace space{.devices = 16, .global_batch = 16, .layers = 126, .pp = {16}};
  std::set<int64_t> chunks;
  for (const JobLayout& layout : all_layouts(space)) chunks.insert(layout.chunks);
  EXPECT_EQ(chunks, (std::set<int64_t>{1, 2, 4}));
}

TEST(JobLayout, BothOrdersOfDpAndPpWhereTheyDiffer) {
  std::set<std::string> texts;
  for (const JobLayout& layout : all_layouts({.devices = 8,
                                 .global_batch = 8,
                                 .layers = 4,
                                 .tp = {2},
                                 .schedules = {ScheduleKind::k1F1B},
                                 .micro_batches = {1},
                                 .zero_stages = {0},
                                 .sequence_parallel = {false},
                                 .recompute = {Recompute::kNone}}))
    texts.insert(to_string(layout));
  EXPECT_THAT(texts, testing::ElementsAre("dp 1  pp 4  tp 2  1f1b, 1 micro-batch",
                                          "dp 2  pp 2  tp 2  1f1b, 1 micro-batch",
                                          "dp 4  pp 1  tp 2  1 micro-batch",
                                          "pp 2  dp 2  tp 2  1f1b, 1 micro-batch"));
  const JobLayout layout{.dp = 4, .pp = 2, .tp = 2};
  EXPECT_EQ(layout.ranks_between_stages(), 2);
  JobLayout other = layout;
  other.order = MeshOrder::kPpOutside;
  EXPECT_EQ(other.ranks_between_stages(), 8);
}

TEST(JobLayout, FixedValuesAreTheOnlyOnes) {
  const LayoutSpace space{.devices = 16,
                          .global_batch = 32,
                          .layers = 12,
                          .tp = {4},
                          .schedules = {ScheduleKind::kGPipe},
                          .micro_batches = {8},
                          .zero_stages = {1},
                          .recompute = {Recompute::kFull}};
  const std::vector<JobLayout> layouts = all_layouts(space);
  EXPECT_FALSE(layouts.empty());
  for (const JobLayout& layout : layouts) {
    EXPECT_EQ(layout.tp, 4);
    EXPECT_EQ(layout.micro_batches, 8);
    EXPECT_EQ(layout.zero_stage, 1);
    EXPECT_GT(layout.dp, 1);
    EXPECT_EQ(layout.recompute, Recompute::kFull);
    EXPECT_EQ(layout.schedule, ScheduleKind::kGPipe);
    EXPECT_GT(layout.pp, 1);
  }
}

TEST(JobLayout, SaysItselfAsText) {
  EXPECT_EQ(to_string(JobLayout{.dp = 2,
                                .pp = 4,
                                .tp = 8,
                                .schedule = ScheduleKind::kInterleaved,
                                .chunks = 2,
                                .micro_batches = 16,
                                .zero_stage = 1,
                                .sequence_parallel = true,
                                .recompute = Recompute::kSelective,
                                .cut = {2, 1, 1, 1, 1, 1, 1, 1}}),
            "dp 2  pp 4  tp 8  interleaved x2, 16 micro-batches  cut 2+7x1  zero 1  "
            "sequence parallel  recompute selective");
  EXPECT_EQ(to_string(JobLayout{}), "dp 1  pp 1  tp 1  1 micro-batch");
}

}  // namespace
}  // namespace phi::distributed
