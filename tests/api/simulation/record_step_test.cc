// A dry rank's record of a training step: its launches with their costs, and exactly the calls that
// a real rank makes.
#include "api/simulation/record_step.h"

#include <gtest/gtest.h>

#include "api/generated/api.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/reshape.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"

namespace phi::simulation {
namespace {

using distributed::ProcessMesh;
using distributed::RecordedEvent;
using distributed::RecordedLaunch;
using distributed::RecordedMessages;
using distributed::RecordedWait;
using distributed::RecordingTransport;
using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::CallWait;
using distributed::simulator::Computation;
using distributed::simulator::GroupCall;

Tensor x(const Dims& dims) { return placeholder(dims, DataType::FLOAT32, CPUPlace()); }

TEST(RecordStep, LaunchesHaveTheirCosts) {
  RecordingWorld world(0, 2);
  const World::Scope scope(world);
  const Tensor a = x({3, 4}), b = x({4, 5}), grad = x({3, 5});
  const auto program = record_step(world, [&] {
    add(a, a);
    matmul(a, b);
    matmul_grad(a, b, grad, false, false, GradMask({1}));
    reshape(a, {4, 3});  // a view
  });
  ASSERT_EQ(program.events.size(), 3u);
  const auto launch = [&](size_t i) { return std::get<Computation>(program.events[i]); };
  constexpr double kFloat = sizeof(float);
  EXPECT_EQ(launch(0), (Computation{"add", DataType::FLOAT32, 0, 3 * 12 * kFloat}));
  EXPECT_EQ(launch(1),
            (Computation{"matmul", DataType::FLOAT32, 2 * 3 * 4 * 5, (12 + 20 + 15) * kFloat}));
  EXPECT_EQ(launch(2).op, "matmul_grad");
  EXPECT_EQ(launch(2).bytes, (12 + 20 + 15 + 20) * kFloat);
  EXPECT_TRUE(program.groups.empty());
}

TEST(RecordStep, PeersAreDistancesWithinTheGroup) {
  RecordingWorld world(2, 3);
  const World::Scope scope(world);
  const int64_t pair[] = {0, 2};
  const auto program = record_step(world, [&] {
    world.group(pair).all_reduce(nullptr, 100, DataType::FLOAT32, distributed::ReduceKind::kSum);
    world.everyone().barrier();
  });
  ASSERT_EQ(program.events.size(), 2u);
  const GroupCall expected{0,     "all_reduce", distributed::simulator::CallPattern::kDirect,
                           false, 400,          {{1, 1, 400, 1, 400}},
                           400};
  EXPECT_EQ(std::get<GroupCall>(program.events[0]), expected);
  EXPECT_EQ(program.groups, (std::vector<std::vector<int64_t>>{{0, 2}, {0, 1, 2}}));
}

// The programs of the ranks of a world, by rank.
std::vector<distributed::simulator::RankProgram> programs_of(
    int64_t ranks, const std::function<void(distributed::Group&)>& step) {
  std::vector<distributed::simulator::RankProgram> out;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    RecordingWorld world(rank, ranks);
    const World::Scope scope(world);
    out.push_back(record_step(world, [&] { step(world.everyone()); }));
  }
  return out;
}

TEST(RecordStep, MembersWithPartsOfOneSizeMakeEqualCalls) {
  constexpr int64_t kLarge = 100000;  // elements, in several slices
  const std::vector<int64_t> counts = {kLarge + 1, kLarge + 1, kLarge, kLarge, 0};
  const auto programs = programs_of(5, [&](distributed::Group& group) {
    group.all_gather_v(nullptr, nullptr, counts, DataType::FLOAT32);
    group.reduce_scatter_v(nullptr, nullptr, counts, DataType::FLOAT32,
                           distributed::ReduceKind::kSum);
    group.all_reduce(nullptr, nullptr, 5 * kLarge + 2, DataType::FLOAT32,
                     distributed::ReduceKind::kSum);
  });
  for (const auto& program : programs) {
    ASSERT_EQ(program.events.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      const GroupCall& call = std::get<GroupCall>(program.events[i]);
      EXPECT_TRUE(call.peers.empty());
      EXPECT_EQ(call.parts, std::get<GroupCall>(programs[0].events[i]).parts);
      EXPECT_EQ(call.parts.gathers, i != 1);
      EXPECT_EQ(call.parts.scatters, i != 0);
    }
  }
  EXPECT_EQ(programs[0].events, programs[1].events);
  EXPECT_EQ(programs[2].events, programs[3].events);
  EXPECT_NE(programs[1].events, programs[2].events);
}

TEST(RecordStep, PartsHaveTheMessagesOfTheirRecord) {
  const std::vector<int64_t> counts = {70001, 70001, 70000, 1};
  for (int64_t rank = 0; rank < 4; ++rank) {
    RecordingWorld world(rank, 4);
    const World::Scope scope(world);
    distributed::Group& group = world.everyone();
    group.all_gather_v(nullptr, nullptr, counts, DataType::FLOAT32);
    group.reduce_scatter_v(nullptr, nullptr, counts, DataType::FLOAT32,
                           distributed::ReduceKind::kSum);
    group.all_reduce(nullptr, nullptr, 70001, DataType::FLOAT32, distributed::ReduceKind::kSum);
    const std::vector<RecordedEvent> events = world.take();
    const auto program = program_of(events, rank);
    for (size_t i = 0; i < events.size(); ++i) {
      const auto& call = std::get<GroupCall>(program.events[i]);
      EXPECT_FALSE(call.parts.by_position.empty());
      size_t peers = 0;
      for_each_peer(call, static_cast<size_t>(rank), [&](const auto& peer) {
        ++peers;
        const auto& recorded = std::get<RecordedMessages>(events[i]).peers;
        const distributed::RecordedTraffic expected{(rank + peer.distance) % 4, peer.messages_sent,
                                                    peer.bytes_sent, peer.messages_received,
                                                    peer.bytes_received};
        EXPECT_EQ(std::ranges::count(recorded, expected), 1);
      });
      EXPECT_EQ(peers, 3u);
    }
  }
}

TEST(RecordStep, ExchangesInWhichAllSendToAllMayGather) {
  constexpr size_t kBytes[] = {9, 9, 8, 8};
  const auto programs = programs_of(4, [&](distributed::Group& group) {
    std::vector<distributed::Send> sends;
    std::vector<distributed::Recv> recvs;
    const int64_t own = group.position();
    for (int64_t i = 0; i < 4; ++i) {
      if (i == own) continue;
      sends.push_back({i, nullptr, kBytes[own]});
      recvs.push_back({i, nullptr, kBytes[i]});
    }
    group.exchange(sends, recvs);
    // From the first member to the last one.
    if (own != 0) sends.clear();
    if (own != 3) recvs.clear();
    group.exchange(std::span(sends).last(own == 0 ? 1 : 0),
                   std::span(recvs).first(own == 3 ? 1 : 0));
  });
  for (const auto& program : programs) {
    const auto& gather = std::get<GroupCall>(program.events[0]);
    EXPECT_TRUE(gather.parts.gathers);
    EXPECT_FALSE(gather.parts.scatters);
    EXPECT_EQ(gather.parts, std::get<GroupCall>(programs[0].events[0]).parts);
    EXPECT_TRUE(std::get<GroupCall>(program.events[1]).parts.by_position.empty());
  }
}

TEST(RecordStep, CallsOfEqualPartsHavePeers) {
  const auto programs = programs_of(3, [&](distributed::Group& group) {
    group.all_gather(nullptr, nullptr, 7, DataType::FLOAT32);
    group.reduce_scatter(nullptr, nullptr, 7, DataType::FLOAT32, distributed::ReduceKind::kSum);
    group.all_reduce(nullptr, nullptr, 7, DataType::FLOAT32, distributed::ReduceKind::kSum);
    group.all_reduce(nullptr, nullptr, 300000, DataType::FLOAT32, distributed::ReduceKind::kSum);
  });
  for (const auto& program : programs) {
    EXPECT_EQ(program.events, programs[0].events);
    for (const auto& event : program.events) EXPECT_EQ(std::get<GroupCall>(event).peers.size(), 2u);
  }
}

struct Layout {
  std::vector<int64_t> shape;  // dp, pp, tp
  std::string schedule = "1f1b";
  int zero_stage = 0;
  bool sequence_parallel = false;
};

// Two steps of a small GPT.
void train(const Layout& layout) {
  const auto model = nn::models::make(nn::models::GptConfig{
      .vocab = 32, .seq_len = 8, .d_model = 16, .layers = 4, .heads = 2, .hidden = 32});
  model->initialise(3, DataType::FLOAT32);
  const ProcessMesh mesh(layout.shape, {"dp", "pp", "tp"});
  nn::shard(*model, mesh,
            nn::transformer_layout(
                *model, mesh,
                {.sequence_parallel = layout.sequence_parallel, .zero_stage = layout.zero_stage}));
  training::Trainer trainer(*model, nn::cross_entropy,
                            {.micro_batches = 4, .schedule = layout.schedule});
  const auto batches = [](int64_t) {
    const Tensor ids = full({4, 8}, 3, DataType::INT64);
    return std::vector<training::Batch>(4, {ids, reshape(ids, {4, 8, 1})});
  };
  trainer.run(2, batches);
}

std::vector<RecordedEvent> without_launches(std::vector<RecordedEvent> events) {
  std::erase_if(events, [](const RecordedEvent& event) {
    return std::holds_alternative<RecordedLaunch>(event);
  });
  return events;
}

void expect_equal_calls(const std::vector<RecordedEvent>& real,
                        const std::vector<RecordedEvent>& dry) {
  ASSERT_EQ(real.size(), dry.size());
  for (size_t i = 0; i < real.size(); ++i) {
    ASSERT_EQ(real[i].index(), dry[i].index()) << "event " << i;
    if (const auto* call = std::get_if<RecordedMessages>(&real[i])) {
      ASSERT_EQ(*call, std::get<RecordedMessages>(dry[i])) << "event " << i;
    } else {
      ASSERT_EQ(std::get<RecordedWait>(real[i]), std::get<RecordedWait>(dry[i])) << "event " << i;
    }
  }
}

TEST(RecordStep, ADryRankMakesTheCallsOfARealOne) {
  const Layout layouts[] = {
      {{2, 1, 1}},
      {{1, 2, 1}, "gpipe"},
      {{1, 2, 1}, "1f1b"},
      {{1, 2, 1}, "zb_h1"},
      {{1, 1, 2}},
      {{1, 1, 2}, "1f1b", 0, true},
      {{2, 1, 1}, "1f1b", 1},
      {{2, 1, 1}, "1f1b", 3},
      {{2, 2, 1}, "1f1b", 2},
      {{1, 2, 2}, "gpipe"},
  };
  for (const Layout& layout : layouts) {
    const int64_t ranks = layout.shape[0] * layout.shape[1] * layout.shape[2];
    distributed::run_ranks(ranks, [&](World& world) {
      SCOPED_TRACE(testing::PrintToString(layout.shape) + " " + layout.schedule);
      auto transport = std::make_unique<RecordingTransport>(
          std::shared_ptr<distributed::Transport>(std::shared_ptr<void>(), &world.transport()));
      RecordingTransport& recording = *transport;
      World recorded({std::shared_ptr<void>(), &world.rank_context()}, std::move(transport));
      std::vector<RecordedEvent> real;
      {
        const World::Scope scope(recorded);
        train(layout);
        recorded.drain();
        real = without_launches(recording.take());
      }
      RecordingWorld dry(world.rank(), world.size());
      const World::Scope scope(dry);
      train(layout);
      dry.drain();
      expect_equal_calls(real, without_launches(dry.take()));
    });
  }
}

}  // namespace
}  // namespace phi::simulation
