// What a recording transport keeps of calls, around a dry transport and around real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "distributed/comm/recording/recording_transport.h"
#include "distributed/comm/recording/recording_world.h"
#include "tests/support/rank_launcher.h"

namespace phi::distributed {
namespace {

using ::testing::ElementsAre;
using testing::on_ranks;

RecordedMessages messages(const RecordedEvent& event) { return std::get<RecordedMessages>(event); }

TEST(RecordingWorld, KeepsACallAsAWhole) {
  RecordingWorld world(1, 2);
  constexpr int64_t kCount = 1 << 20;  // sent in two slices, and gathered
  world.everyone().all_reduce(nullptr, kCount, DataType::FLOAT32, ReduceKind::kSum);
  const auto events = world.take();
  ASSERT_EQ(events.size(), 1u);
  const std::vector<int64_t> group = {0, 1};
  const RecordedMessages expected = {std::make_shared<const std::vector<int64_t>>(group),
                                     1,
                                     CommOp::kAllReduce,
                                     DataType::FLOAT32,
                                     4 * kCount,
                                     false,
                                     {{0, 3, 4 * kCount, 3, 4 * kCount}}};
  EXPECT_EQ(messages(events[0]), expected);
  EXPECT_TRUE(world.take().empty());
}

TEST(RecordingWorld, KeepsWaitsWhereTheProgramHasThem) {
  RecordingWorld world(0, 2);
  const Send send{1, nullptr, 3};
  const Recv recv{1, nullptr, 5};
  const Transfer sends = world.everyone().start_exchange({&send, 1}, {}, nullptr);
  const Transfer receives = world.everyone().start_exchange({}, {&recv, 1}, nullptr);
  world.everyone().barrier();
  EXPECT_TRUE(sends.done());
  EXPECT_FALSE(receives.done());
  world.add({"relu", DataType::FLOAT32, 0, 8});
  receives.wait();
  receives.wait();
  EXPECT_TRUE(receives.done());
  sends.wait();
  const auto events = world.take();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_TRUE(messages(events[0]).is_started);
  EXPECT_THAT(messages(events[0]).peers, ElementsAre(RecordedTraffic{1, 1, 3, 0, 0}));
  EXPECT_THAT(messages(events[1]).peers, ElementsAre(RecordedTraffic{1, 0, 0, 1, 5}));
  EXPECT_EQ(messages(events[2]).op, CommOp::kBarrier);
  EXPECT_EQ(std::get<RecordedLaunch>(events[3]).op, std::string_view("relu"));
  EXPECT_EQ(std::get<RecordedWait>(events[4]).call, 1u);
}

TEST(RecordingWorld, AWaitForACallOfAnEarlierRecordIsLeftOut) {
  RecordingWorld world(0, 2);
  const Recv recv{1, nullptr, 5};
  const Transfer receives = world.everyone().start_exchange({}, {&recv, 1}, nullptr);
  EXPECT_EQ(world.take().size(), 1u);
  receives.wait();
  EXPECT_TRUE(world.take().empty());
}

// Calls of all kinds. `rank_of` makes the data of real ranks; a dry one has none.
void call_all_kinds(World& world, std::vector<float>* data) {
  Group& everyone = world.everyone();
  float* const x = data ? data->data() : nullptr;
  const int64_t n = 300'000;
  float* const y = data ? x + everyone.size() * n : nullptr;
  everyone.all_reduce(x, n, DataType::FLOAT32, ReduceKind::kSum);
  everyone.all_reduce(x, 3, DataType::FLOAT32, ReduceKind::kMax);
  everyone.all_gather(x, y, 1000, DataType::FLOAT32);
  everyone.reduce_scatter(y, x, n, DataType::FLOAT32, ReduceKind::kSum);
  everyone.broadcast(x, n, DataType::FLOAT32, 1);
  everyone.all_to_all(x, y, 77, DataType::FLOAT32);
  everyone.barrier();
  const int64_t next = (everyone.position() + 1) % everyone.size();
  const int64_t before = (everyone.position() + everyone.size() - 1) % everyone.size();
  const Send send{next, x, 40};
  const Recv recv{before, y, 40};
  const Transfer transfer = everyone.start_exchange({&send, 1}, {&recv, 1}, nullptr);
  everyone.all_reduce(x, 8, DataType::FLOAT32, ReduceKind::kMax);
  transfer.wait();
  everyone.exchange({&send, 1}, {&recv, 1});
}

TEST(RecordingTransport, ARealRankHasTheRecordOfADryOne) {
  on_ranks(3, [](World& world) {
    auto transport = std::make_unique<RecordingTransport>(
        std::shared_ptr<Transport>(std::shared_ptr<void>(), &world.transport()));
    RecordingTransport& recording = *transport;
    std::vector<float> data(static_cast<size_t>(2 * world.size() * 300'000));
    std::vector<RecordedEvent> real;
    {
      World recorded({std::shared_ptr<void>(), &world.rank_context()}, std::move(transport));
      const World::Scope scope(recorded);
      call_all_kinds(recorded, &data);
      real = recording.take();
    }
    RecordingWorld dry(world.rank(), world.size());
    const World::Scope scope(dry);
    call_all_kinds(dry, nullptr);
    const auto expected = dry.take();
    ASSERT_EQ(real.size(), expected.size());
    for (size_t i = 0; i < real.size(); ++i) {
      ASSERT_EQ(real[i].index(), expected[i].index()) << i;
      if (const auto* call = std::get_if<RecordedMessages>(&real[i])) {
        EXPECT_EQ(*call, messages(expected[i])) << i;
      } else {
        EXPECT_EQ(std::get<RecordedWait>(real[i]), std::get<RecordedWait>(expected[i])) << i;
      }
    }
  });
}

}  // namespace
}  // namespace phi::distributed
