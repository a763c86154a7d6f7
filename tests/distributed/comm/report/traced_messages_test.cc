// What a trace shows of calls: who, which one, how many bytes, and arrows with two ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/observer_scope.h"
#include "phi/core/trace/trace.h"
#include "tests/support/rank_launcher.h"

namespace phi::distributed {
namespace {

using ::testing::ElementsAre;
using testing::on_ranks;

std::vector<TraceEvent> events_of(const Trace& trace, TraceKind kind) {
  std::vector<TraceEvent> events;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind == kind) events.push_back(trace[i]);
  }
  return events;
}

std::vector<std::string_view> names_of(const std::vector<TraceEvent>& events) {
  std::vector<std::string_view> names;
  for (const TraceEvent& event : events) names.emplace_back(event.name);
  return names;
}

// Observes a rank while it lives.
struct Recorded : Trace {
  explicit Recorded(World& world) : scope(*this, world.rank_context()) {}
  ObserverScope scope;
};

TEST(CommTrace, ACallSaysGroupNumberAndBytes) {
  on_ranks(2, [](World& world) {
    Recorded trace(world);
    const OpScope scope("matmul");
    float x = 1.0f;
    world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
    world.everyone().barrier();
    const auto calls = events_of(trace, TraceKind::kCall);
    ASSERT_THAT(names_of(calls), ElementsAre("all_reduce", "barrier"));
    EXPECT_STREQ(calls[0].detail, "{0,1}");
    EXPECT_STREQ(calls[0].caller, "matmul");
    EXPECT_EQ(calls[0].sequence + 1, calls[1].sequence);
    const Counters& counters = world.rank_context().counters();
    EXPECT_EQ(calls[0].bytes_sent, counters.bytes_sent);
    EXPECT_EQ(calls[0].bytes_received, counters.bytes_received);
    EXPECT_EQ(calls[1].bytes_sent, 0);
    EXPECT_GT(calls[0].bytes_sent, 0);
  });
}

TEST(CommTrace, AnArrowHasOneEndOnEachRank) {
  uint64_t tail = 0, head = 0;
  on_ranks(2, [&](World& world) {
    Recorded trace(world);
    const int64_t sent[2] = {1, 2};
    int64_t received[2] = {};
    // Two messages from 0 to 1 are one arrow.
    const std::vector<Send> sends = {{1, &sent[0], 8}, {1, &sent[1], 8}};
    const std::vector<Recv> recvs = {{0, &received[0], 8}, {0, &received[1], 8}};
    if (world.rank() == 0) {
      world.everyone().exchange(sends, {});
    } else {
      world.everyone().exchange({}, recvs);
    }
    const bool sender = world.rank() == 0;
    const auto calls = events_of(trace, TraceKind::kCall);
    ASSERT_THAT(names_of(calls), ElementsAre(sender ? "send" : "receive"));
    EXPECT_EQ(calls[0].peer, 1 - world.rank());
    const auto ends = events_of(trace, sender ? TraceKind::kSend : TraceKind::kReceive);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].peer, 1 - world.rank());
    EXPECT_EQ(sender ? ends[0].bytes_sent : ends[0].bytes_received, 16);
    EXPECT_LE(calls[0].start_ns, ends[0].start_ns);
    EXPECT_GE(calls[0].start_ns + calls[0].duration_ns, ends[0].start_ns);
    (sender ? tail : head) = ends[0].id;
    EXPECT_TRUE(events_of(trace, sender ? TraceKind::kReceive : TraceKind::kSend).empty());
  });
  EXPECT_NE(tail, 0u);
  EXPECT_EQ(tail, head);
}

TEST(CommTrace, ArrowsOfDifferentCallsAndDirectionsDiffer) {
  on_ranks(2, [](World& world) {
    Recorded trace(world);
    int64_t in = 0, out = world.rank();
    const Send send{1 - world.rank(), &out, 8};
    const Recv recv{1 - world.rank(), &in, 8};
    for (int i = 0; i < 3; ++i) world.everyone().exchange({&send, 1}, {&recv, 1});
    std::map<uint64_t, int> ids;
    for (const auto kind : {TraceKind::kSend, TraceKind::kReceive}) {
      for (const TraceEvent& end : events_of(trace, kind)) ++ids[end.id];
    }
    EXPECT_EQ(ids.size(), 6u);
    EXPECT_THAT(names_of(events_of(trace, TraceKind::kCall)),
                ElementsAre("exchange", "exchange", "exchange"));
  });
}

TEST(CommTrace, ATransferIsInFlightFromItsStartToItsArrival) {
  on_ranks(2, [](World& world) {
    Recorded trace(world);
    world.rank_context().set_work({1, 2, 3});
    auto in = std::make_shared<int64_t>(0);
    const int64_t out = 7;
    const Send send{1, &out, 8};
    const Recv recv{0, in.get(), 8};
    const bool sender = world.rank() == 0;
    const Transfer transfer = sender ? world.everyone().start_exchange({&send, 1}, {}, nullptr)
                                     : world.everyone().start_exchange({}, {&recv, 1}, in);
    world.rank_context().set_work({});
    transfer.wait();
    transfer.wait();  // says nothing new
    EXPECT_EQ(*in, sender ? 0 : 7);
    const auto calls = events_of(trace, TraceKind::kCall);
    ASSERT_THAT(names_of(calls), ElementsAre(sender ? "send" : "receive", "wait"));
    EXPECT_EQ(calls[0].sequence, calls[1].sequence);
    const auto flights = events_of(trace, TraceKind::kInFlight);
    ASSERT_THAT(names_of(flights), ElementsAre(sender ? "send" : "receive"));
    EXPECT_EQ(flights[0].work.micro_batch, 2);
    EXPECT_GE(flights[0].start_ns, calls[0].start_ns);
    EXPECT_LE(flights[0].start_ns + flights[0].duration_ns,
              calls[1].start_ns + calls[1].duration_ns);
    EXPECT_EQ(events_of(trace, TraceKind::kSend).size(), sender ? 1u : 0u);
    const auto heads = events_of(trace, TraceKind::kReceive);
    ASSERT_EQ(heads.size(), sender ? 0u : 1u);
    for (const TraceEvent& head : heads) EXPECT_GE(head.start_ns, calls[1].start_ns);
  });
}

TEST(CommTrace, ATransferMayOutliveItsTrace) {
  on_ranks(2, [](World& world) {
    auto in = std::make_shared<int64_t>(0);
    const int64_t out = 7;
    const Send send{1 - world.rank(), &out, 8};
    const Recv recv{1 - world.rank(), in.get(), 8};
    Transfer transfer;
    {
      Recorded trace(world);
      transfer = world.everyone().start_exchange({&send, 1}, {&recv, 1}, in);
    }
    transfer.wait();
    EXPECT_EQ(*in, 7);
  });
}

}  // namespace
}  // namespace phi::distributed
