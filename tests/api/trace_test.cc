// What a trace shows of calls of the API: ops with their shapes, clipped ops, reshards,
// recomputing.
#include "phi/core/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/call/traced_action.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/api.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records while it lives.
struct Recorded : Trace {
  explicit Recorded(size_t limit = kDefaultLimit) : Trace(limit) {
    RankContext::current().record_to(this);
  }
  ~Recorded() { RankContext::current().record_to(nullptr); }

  std::vector<TraceEvent> of(TraceKind kind) const {
    std::vector<TraceEvent> events;
    for (size_t i = 0; i < size(); ++i) {
      if ((*this)[i].kind == kind) events.push_back((*this)[i]);
    }
    return events;
  }
  std::vector<std::string_view> names(TraceKind kind) const {
    std::vector<std::string_view> names;
    for (const TraceEvent& event : of(kind)) names.emplace_back(event.name);
    return names;
  }
};

TEST(ApiTrace, AnOpHasItsNameAndShapes) {
  const Tensor x = full({4, 8}, 1.0f);
  const Tensor y = full({8, 2}, 1.0f);
  const Recorded trace;
  const Tensor z = matmul(x, y);
  const Tensor both = add_n({z, z});
  const Tensor view = reshape(both, {8});
  const auto ops = trace.of(TraceKind::kOp);
  ASSERT_THAT(trace.names(TraceKind::kOp), ElementsAre("matmul", "add_n", "reshape"));
  EXPECT_STREQ(ops[0].detail, "f32[4,8] f32[8,2] -> f32[4,2]");
  EXPECT_STREQ(ops[1].detail, "f32[4,2] f32[4,2] -> f32[4,2]");
  EXPECT_STREQ(ops[2].detail, "f32[4,2]");
  for (const TraceEvent& op : ops) EXPECT_NE(op.duration_ns, TraceEvent::kUnfinished);
}

TEST(ApiTrace, OpsAndClippedOpsAreThoseThatAreCounted) {
  run_ranks(2, [](World& world) {
    const ProcessMesh first({1}, {"x"}, {0});
    Tensor x = shard_tensor(full({4, 4}, 1.0f), first, {Replicate()});
    const Counters before = world.rank_context().counters();
    const Recorded trace;
    x = add(x, x);
    x = matmul(x, x);
    const Counters& counters = world.rank_context().counters();
    const bool computes = world.rank() == 0;
    EXPECT_THAT(trace.names(computes ? TraceKind::kOp : TraceKind::kClipped),
                ElementsAre("add", "matmul"));
    EXPECT_EQ(trace.of(TraceKind::kOp).size(),
              static_cast<size_t>(counters.ops_launched - before.ops_launched));
    EXPECT_EQ(trace.of(TraceKind::kClipped).size(),
              static_cast<size_t>(counters.ops_clipped - before.ops_clipped));
    EXPECT_EQ(trace.size(), 2u);
  });
}

TEST(ApiTrace, AReshardShowsItsStepsItsCallAndItsBytes) {
  run_ranks(2, [](World& world) {
    const ProcessMesh mesh({2}, {"x"});
    const Tensor x = shard_tensor(full({4, 4}, 1.0f), mesh, {Shard(0)});
    const Recorded trace;
    const Tensor y = reshard(x, mesh, {Replicate()});
    ASSERT_THAT(trace.names(TraceKind::kReshard), ElementsAre("reshard", "all_gather"));
    const auto reshards = trace.of(TraceKind::kReshard);
    EXPECT_STREQ(reshards[0].detail, "f32[4,4] [S0] on mesh(x=2) -> [R] on mesh(x=2)");
    EXPECT_THAT(reshards[1].detail, HasSubstr("all_gather over x"));
    for (const TraceEvent& event : reshards) {
      EXPECT_EQ(event.bytes_sent, 32);
      EXPECT_EQ(event.bytes_received, 32);
      EXPECT_STREQ(event.caller, "reshard");
    }
    EXPECT_FALSE(trace.of(TraceKind::kCall).empty());
    EXPECT_EQ(world.rank_context().counters().reshard_steps, 1);
  });
}

TEST(ApiTrace, AReshardAcrossMeshesEndsWhereItIsWaitedFor) {
  run_ranks(2, [](World& world) {
    const ProcessMesh first({1}, {"x"}, {0}), second({1}, {"x"}, {1});
    const Tensor x = shard_tensor(full({4}, 1.0f), first, {Replicate()});
    const Recorded trace;
    auto pending = distributed::start_reshard(x, second, std::vector{Replicate()});
    const Tensor y = pending.wait();
    if (world.rank() == 0) {
      EXPECT_THAT(trace.names(TraceKind::kReshard), ElementsAre("reshard", "send_recv"));
      EXPECT_EQ(trace.of(TraceKind::kSend).size(), 1u);
    } else {
      EXPECT_THAT(trace.names(TraceKind::kReshard),
                  ElementsAre("reshard", "send_recv", "finish reshard"));
      EXPECT_THAT(trace.names(TraceKind::kCall), ElementsAre("receive", "wait"));
      EXPECT_EQ(trace.of(TraceKind::kReceive).size(), 1u);
    }
  });
}

TEST(ApiTrace, RecomputingIsAnAction) {
  Tensor x = full({2}, 1.0f);
  x.set_requires_grad();
  const Tensor y =
      recompute([](const auto& inputs) { return multiply(inputs[0], inputs[0]); }, {x});
  const Recorded trace;
  y.backward(full({2}, 1.0f));
  ASSERT_THAT(trace.names(TraceKind::kAction), ElementsAre("recompute"));
  EXPECT_THAT(trace.names(TraceKind::kOp), ::testing::Contains("multiply"));
}

TEST(ApiTrace, AnActionElsewhereIsAClippedOne) {
  run_ranks(2, [](World& world) {
    const ProcessMesh first({1}, {"x"}, {0});
    const Recorded trace;
    {
      TracedAction traced('F', 3, "forward");
      traced.made(shard_tensor(full({4}, 1.0f), first, {Replicate()}));
    }
    const auto kind = world.rank() == 0 ? TraceKind::kAction : TraceKind::kClippedAction;
    ASSERT_THAT(trace.names(kind), ElementsAre("F3"));
    EXPECT_STREQ(trace.of(kind)[0].detail, "forward");
  });
}

TEST(ApiTrace, AFullTraceCostsNoResult) {
  const Tensor x = full({2}, 1.5f);
  const Recorded trace(/*limit=*/1);
  const Tensor y = add(add(x, x), x);
  EXPECT_EQ(y.values<float>()[1], 4.5f);
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace.dropped(), 1u);
}

}  // namespace
}  // namespace phi
