// What a trace shows of calls of the API: ops with their shapes, clipped ops, reshards,
// recomputing.
#include "phi/core/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/call/traced_action.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/add_n.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/tanh.h"
#include "api/generated/ops/trace.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/core/observer_scope.h"
#include "phi/tensor_api.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Observes the calling rank while it lives.
struct Recorded : Trace {
  explicit Recorded(size_t limit = kDefaultLimit) : Trace(limit) {}

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

  const ObserverScope scope{*this};
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

// Ops and clipped ops as a trace shows them, but for when; and how many of each the rank counted.
struct ShownAndCounted {
  std::multiset<std::tuple<TraceKind, std::string, std::string>> shown;
  int64_t launched = 0;
  int64_t clipped = 0;
  friend bool operator==(const ShownAndCounted&, const ShownAndCounted&) = default;
};

template <typename Run>
ShownAndCounted ops_of(Run&& run) {
  ShownAndCounted ops;
  const Counters& counters = RankContext::current().counters();
  const Counters before = counters;
  const Recorded trace;
  run();
  for (const TraceKind kind : {TraceKind::kOp, TraceKind::kClipped}) {
    for (const TraceEvent& event : trace.of(kind)) {
      ops.shown.emplace(kind, event.name, event.detail ? event.detail : "");
    }
  }
  ops.launched = counters.ops_launched - before.ops_launched;
  ops.clipped = counters.ops_clipped - before.ops_clipped;
  EXPECT_EQ(trace.of(TraceKind::kOp).size(), static_cast<size_t>(ops.launched));
  EXPECT_EQ(trace.of(TraceKind::kClipped).size(), static_cast<size_t>(ops.clipped));
  return ops;
}

// Two stages, the first with a scan: kernels, views between them and at the end, an inplace
// operator, a copy, and on each rank ops of the other.
TEST(ApiTrace, ARunOfAProgramShowsTheOpsOfTheFunction) {
  run_ranks(2, [](World& world) {
    const ProcessMesh first({1}, {"x"}, {0}), second({1}, {"x"}, {1});
    std::vector<TensorList> layers;
    for (int i = 0; i < 3; ++i) layers.push_back({full({8, 8}, 0.1f)});
    const auto f = [&](const TensorList& in) {
      Tensor x = reshape(shard_tensor(in[0], first, {Replicate()}), {4, 8});
      x = scan(
          [](const Tensor& h, const TensorList& w) {
            return tanh(reshape(matmul(h, w[0]), {4, 8}));
          },
          x, layers);
      Tensor y = add(reshard(x, second, {Replicate()}), full({8}, 1.0f));
      scale_(y, 2.0);
      return TensorList{reshape(y, {8, 4})};
    };
    const Tensor x = full({32}, 1.0f);
    const Program program = capture(f, {x});
    const ShownAndCounted eager = ops_of([&] { f({x}); });
    EXPECT_GT(eager.launched, 0);
    EXPECT_GT(eager.clipped, 0);
    for (int run = 0; run < 2; ++run) {
      const ShownAndCounted captured = ops_of([&] { program.run({x}); });
      EXPECT_EQ(captured, eager) << "rank " << world.rank() << " run " << run;
    }
  });
}

TEST(ApiTrace, AKernelThatALimitedProgramRunsAgainIsNoOp) {
  const auto f = [](const TensorList& in) {
    TensorList parts;
    for (int i = 1; i <= 8; ++i) parts.push_back(scale(in[0], i));
    Tensor sum = in[0];
    for (const Tensor& part : parts) sum = multiply(sum, part);
    for (const Tensor& part : parts) sum = add(sum, part);
    return TensorList{sum};
  };
  const Tensor x = full({128, 128}, 1.0f);  // 64 KiB
  const Program program = capture(f, {x});
  program.limit_memory({.limits = {.device_bytes = 640 << 10}});
  const ShownAndCounted eager = ops_of([&] { f({x}); });
  EXPECT_EQ(ops_of([&] { program.run({x}); }), eager);
  ASSERT_GT(program.swap_stats().recomputed_launches, 0);
  const Recorded trace;
  program.run({x});
  EXPECT_THAT(trace.names(TraceKind::kStepOfProgram), ::testing::Each("scale"));
  EXPECT_FALSE(trace.of(TraceKind::kStepOfProgram).empty());
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
