// Worlds of which one rank is recorded for all that do the same, against worlds of which all are.
#include "api/simulation/record_world.h"

#include <gtest/gtest.h>

#include "api/generated/api.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/simulation/record_step.h"
#include "api/simulation/shard_symmetry.h"
#include "api/training/trainer.h"
#include "distributed/simulator/simulate.h"
#include "phi/core/observer_scope.h"

namespace phi::simulation {
namespace {

using distributed::ProcessMesh;
using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using distributed::simulator::WorkUnit;
using distributed::simulator::WorldPrograms;

struct Layout {
  std::vector<int64_t> shape;  // dp, pp, tp
  std::string schedule = "1f1b";
  int zero_stage = 0;
  bool sequence_parallel = false;
  int64_t vocab = 32;
  int64_t heads = 4;
  int64_t samples = 8;  // of a micro-batch
  int64_t layers = 4;
  int64_t chunks = 1;
  int64_t hidden = 64;
  bool tied_head = false;
  bool repeats_idle = false;  // TrainerOptions::repeats_idle
};

// Records the second step of a small GPT.
RecordedRank record(const Layout& layout, int64_t rank) {
  const ProcessMesh mesh(layout.shape, {"dp", "pp", "tp"});
  RecordingWorld world(rank, mesh.size());
  const World::Scope scope(world);
  ShardSymmetry shards(mesh);
  const ObserverScope observing(shards, world.rank_context());
  const auto model = nn::models::make(nn::models::GptConfig{.vocab = layout.vocab,
                                                            .seq_len = 8,
                                                            .d_model = 8 * layout.heads,
                                                            .layers = layout.layers,
                                                            .heads = layout.heads,
                                                            .hidden = layout.hidden,
                                                            .tied_head = layout.tied_head});
  model->initialise(3, DataType::FLOAT32);
  nn::shard(*model, mesh,
            nn::transformer_layout(*model, mesh,
                                   {.sequence_parallel = layout.sequence_parallel,
                                    .zero_stage = layout.zero_stage,
                                    .chunks = layout.chunks}));
  training::Trainer trainer(*model, nn::cross_entropy,
                            {.optimizer = {.grad_clip = 1.0},
                             .micro_batches = 4,
                             .schedule = layout.schedule,
                             .repeats_idle = layout.repeats_idle});
  const Tensor ids = full({layout.samples, 8}, 3, DataType::INT64);
  const std::vector<training::Batch> batches(4, {ids, reshape(ids, {layout.samples, 8, 1})});
  RecordedRank out;
  for (int step = 0; step < 2; ++step)
    out.program = record_step(world, [&] { trainer.step(batches); });
  const Counters& counters = world.rank_context().counters();
  out.totals.bytes_sent = counters.bytes_sent;
  out.totals.bytes_received = counters.bytes_received;
  out.totals.peak_tensor_bytes = world.rank_context().memory()->planned().peak;
  out.asymmetries = shards.asymmetries();
  out.size_changes = shards.size_changes();
  return out;
}

MachineModel machine() {
  MachineModel out;
  out.families[DataType::FLOAT32] = {{"matmul", {"matmul"}, WorkUnit::kFlops, {{1, 1e9}}},
                                     {"bytes", {}, WorkUnit::kBytes, {{1, 1e9}}}};
  out.links = {{"node", 2, 1, 1}, {"network", 0, 3, 0.1, 2}};
  return out;
}

// Returns how many ranks are recorded of how many.
std::pair<size_t, int64_t> compare(const Layout& layout) {
  const ProcessMesh mesh(layout.shape, {"dp", "pp", "tp"});
  const RecordedWorld world =
      record_world(mesh, [&](int64_t rank) { return record(layout, rank); });
  EXPECT_EQ(world.programs.num_ranks(), static_cast<size_t>(mesh.size()));
  std::vector<RankProgram> programs;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    SCOPED_TRACE(rank);
    const RecordedRank real = record(layout, rank);
    const WorldPrograms::Rank& own = world.programs.rank(static_cast<size_t>(rank));
    EXPECT_EQ(world.programs.events(own.events), real.program.events);
    std::vector<std::vector<int64_t>> groups;
    for (const size_t group : own.groups) groups.push_back(world.programs.group(group));
    EXPECT_EQ(groups, real.program.groups);
    EXPECT_EQ(world.totals[world.totals_of[static_cast<size_t>(rank)]], real.totals);
    programs.push_back(real.program);
  }
  const auto by_class = simulate(world.programs, machine());
  const auto all = simulate(programs, machine(), {.one_by_one = true});
  EXPECT_EQ(by_class.seconds, all.seconds);
  EXPECT_EQ(by_class.ranks, all.ranks);
  return {world.num_recorded, mesh.size()};
}

// A tied head is the embedding of the first stage, whose ranks send it to the last one.
TEST(RecordWorld, RepeatedIdleActionsChangeNothingThatARankDoes) {
  std::vector<Layout> layouts;
  for (const char* schedule : {"gpipe", "1f1b", "zb_h1", "zb_h2"})
    layouts.push_back(
        {.shape = {2, 4, 1}, .schedule = schedule, .zero_stage = 1, .tied_head = true});
  layouts.push_back({.shape = {1, 2, 2}, .schedule = "interleaved", .chunks = 2});
  layouts.push_back({.shape = {2, 2, 2}, .zero_stage = 3, .sequence_parallel = true});
  for (Layout& layout : layouts) {
    for (int64_t rank = 0; rank < layout.shape[0] * layout.shape[1] * layout.shape[2]; ++rank) {
      SCOPED_TRACE(layout.schedule + " rank " + std::to_string(rank));
      layout.repeats_idle = false;
      const RecordedRank whole = record(layout, rank);
      layout.repeats_idle = true;
      const RecordedRank repeated = record(layout, rank);
      EXPECT_EQ(repeated.program.events, whole.program.events);
      EXPECT_EQ(repeated.program.groups, whole.program.groups);
      EXPECT_EQ(repeated.totals, whole.totals);
      EXPECT_EQ(repeated.asymmetries, whole.asymmetries);
    }
  }
}

TEST(RecordWorld, EvenMeshesNeedOneRankPerStageAndTwoChecks) {
  EXPECT_EQ(compare({{8, 1, 1}}), (std::pair<size_t, int64_t>{2, 8}));
  EXPECT_EQ(compare({{1, 1, 4}}), (std::pair<size_t, int64_t>{2, 4}));
  EXPECT_EQ(compare({{4, 1, 2}, "1f1b", 1}), (std::pair<size_t, int64_t>{2, 8}));
  EXPECT_EQ(compare({{4, 1, 2}, "1f1b", 3}), (std::pair<size_t, int64_t>{2, 8}));
  EXPECT_EQ(compare({{2, 1, 4}, "1f1b", 0, true}), (std::pair<size_t, int64_t>{2, 8}));
  EXPECT_EQ(compare({{4, 4, 1}}), (std::pair<size_t, int64_t>{6, 16}));
  EXPECT_EQ(compare({{2, 4, 2}, "gpipe", 2}), (std::pair<size_t, int64_t>{6, 16}));
  EXPECT_EQ(compare({{2, 2, 4}, "zb_h1", 1, true}), (std::pair<size_t, int64_t>{4, 16}));
  EXPECT_EQ(compare({{3, 3, 2}, "1f1b", 0, true, 32, 4, 6, 5}),
            (std::pair<size_t, int64_t>{5, 18}));
}

TEST(RecordWorld, ShardsOfDifferentSizesNeedOneRankOfEachAndAsManyChecks) {
  const auto recorded = [](Layout layout, int64_t samples) {
    layout.samples = samples;
    return compare(layout).first;
  };
  EXPECT_EQ(recorded({{12, 1, 1}}, 20), 4u);
  // All-reduces of gradients whose elements are not divisible by 21.
  EXPECT_EQ(recorded({{21, 1, 1}}, 21), 8u);
  // 32 and 64 elements over 12 ranks.
  EXPECT_EQ(recorded({{12, 1, 1}, "1f1b", 1}, 24), 6u);
  EXPECT_EQ(recorded({{12, 1, 1}, "1f1b", 3}, 24), 6u);
  EXPECT_EQ(recorded({{12, 1, 2}, "1f1b", 1}, 24), 4u);
  EXPECT_EQ(recorded({{12, 2, 1}, "zb_h1", 2}, 24), 12u);
  // Also 33 ids over tp.
  EXPECT_EQ(recorded({{12, 1, 2}, "1f1b", 2, true, 33}, 24), 8u);
  // 63 elements over tp are 32 and 31. Split over dp, they change at coordinates 12 and 11. Ranks
  // at coordinate 11 are like no others, and need no check.
  Layout nested{{20, 1, 2}, "1f1b", 1, true, 60, 10};
  nested.hidden = 63;
  EXPECT_EQ(recorded(nested, 20), 10u);
  nested.shape = {20, 2, 2};
  EXPECT_EQ(recorded(nested, 20), 20u);
}

TEST(RecordWorld, UnevenMeshDimsOfTwoRanksAreRecordedWhole) {
  // 33 ids over tp.
  EXPECT_EQ(compare({{4, 1, 2}, "1f1b", 0, false, 33}).first, 2u * 2);
  // 9 samples over dp.
  EXPECT_EQ(compare({{2, 2, 2}, "1f1b", 0, false, 32, 4, 9}).first, 8u);
  // Both.
  EXPECT_EQ(compare({{2, 2, 2}, "1f1b", 1, false, 33, 4, 9}).first, 8u);
}

RecordedRank rank_of(std::vector<distributed::simulator::RankEvent> events,
                     std::vector<std::vector<int64_t>> groups) {
  return {{std::move(events), std::move(groups)}, {}, {"", ""}};
}

TEST(RecordWorld, RanksThatAreUnequalWithoutAReasonAreAllRecorded) {
  using distributed::simulator::Computation;
  const ProcessMesh mesh({3, 2}, {"dp", "tp"});
  const RecordedWorld world = record_world(mesh, [](int64_t rank) {
    return rank_of({Computation{"work", DataType::FLOAT32, rank == 0 ? 2.0 : 1.0, 1}}, {});
  });
  EXPECT_EQ(world.num_recorded, 6u);
  EXPECT_EQ(world.asymmetries, (std::vector<std::string>{"dp: ranks 0 and 5 do not do the same",
                                                         "tp: ranks 0 and 5 do not do the same"}));
}

TEST(RecordWorld, RanksThatAreUnequalAreRecordedAlongUnevenMeshDims) {
  using distributed::simulator::Computation;
  const ProcessMesh mesh({4, 2}, {"dp", "tp"});
  const RecordedWorld world = record_world(mesh, [](int64_t rank) {
    RecordedRank out =
        rank_of({Computation{"work", DataType::FLOAT32, rank < 6 ? 2.0 : 1.0, 1}}, {});
    out.size_changes = {{0, 1}};  // shards have two sizes along dp, and ranks do three things
    return out;
  });
  EXPECT_EQ(world.num_recorded, 4u + 2);  // and ranks 1 and 7
  EXPECT_EQ(world.asymmetries, (std::vector<std::string>{"dp: ranks 2 and 7 do not do the same"}));
}

TEST(RecordWorld, ARootIsAnAsymmetry) {
  using distributed::simulator::CallPattern;
  using distributed::simulator::GroupCall;
  using distributed::simulator::PeerTraffic;
  const ProcessMesh mesh({2, 3}, {"dp", "tp"});
  const RecordedWorld world = record_world(mesh, [](int64_t rank) {
    const int64_t first = rank / 3 * 3, position = rank - first;
    GroupCall call{0, "broadcast", CallPattern::kTree, false, 0, {}};
    for (int64_t i = 1; position == 0 && i < 3; ++i) call.peers.push_back({i, 1, 8, 0, 0});
    if (position > 0) call.peers.push_back({3 - position, 0, 0, 1, 8});
    return rank_of({call}, {{first, first + 1, first + 2}});
  });
  EXPECT_EQ(world.num_recorded, 3u + 2);
  ASSERT_EQ(world.asymmetries.size(), 1u);
  EXPECT_EQ(world.asymmetries[0],
            "tp: rank 0 exchanges more with some ranks of a group along tp than with others, in "
            "broadcast");
}

}  // namespace
}  // namespace phi::simulation
