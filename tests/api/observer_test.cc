// Observers of a rank: which events they receive, in which order, several at once, within each
// other, after errors, while they are suspended, and on ranks that are threads.
#include "phi/core/observer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/call/call_events.h"
#include "api/call/decision.h"
#include "api/capture/program.h"
#include "api/explain/check_numbers.h"
#include "api/explain/check_ops.h"
#include "api/explain/explain.h"
#include "api/generated/ops/exp.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/log.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/softmax.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/reshard_events.h"
#include "phi/core/observer_scope.h"
#include "phi/core/trace/trace.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::ReshardPhase;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Events = std::vector<std::string>;

// Adds each event to a list, which several may share, as "name: event op".
class Listener final : public Observer {
 public:
  Listener(std::string name, Events* events) : name_(std::move(name)), events_(*events) {}
  /// Called at each event that may throw.
  std::function<void(const std::string&)> act = [](const std::string&) {};

  void on_call_begin(const CallBegin& event) override { add("begin", event.op.name); }
  void on_decision(const CallDecision& event) override { add("decision", event.op.name); }
  void on_planned_launch(const PlannedLaunch& event) override { add("planned", event.op); }
  void on_output(const KernelOutput& event) override { add("output", event.op.name); }
  void on_call_outputs(const CallOutputs& event) override { add("outputs", event.op.name); }
  void on_call_end(const CallEnd& event) noexcept override { note("end", event.op.name); }
  void on_reshard_begin(const distributed::ReshardBegin& event) override {
    add("reshard begin", name_of(event.phase));
  }
  void on_reshard_end(const distributed::ReshardEnd& event) noexcept override {
    note("reshard end", name_of(event.phase));
    if (event.phase == ReshardPhase::kWhole) bytes_received += event.bytes_received;
  }
  void on_transfer_end(const distributed::TransferEnd& event) noexcept override {
    EXPECT_GE(event.nanoseconds, 0);
    note("transfer end", distributed::name_of(event.call.op).data());
  }

  int64_t bytes_received = 0;

 private:
  static const char* name_of(ReshardPhase phase) {
    return phase == ReshardPhase::kWhole ? "whole" : phase == ReshardPhase::kStep ? "step" : "rest";
  }
  std::string note(const char* event, const char* of) {
    events_.push_back(fmt::format("{}: {} {}", name_, event, of));
    return events_.back();
  }
  void add(const char* event, const char* of) { act(note(event, of)); }

  const std::string name_;
  Events& events_;
};

Tensor numbers() { return full({4}, 2.0f); }

TEST(Observers, ACallIsReportedFromItsBeginToItsEnd) {
  const Tensor x = numbers();
  Events events;
  {
    Listener a("a", &events);
    const ObserverScope scope(a);
    exp(x);
  }
  EXPECT_THAT(events, ElementsAre("a: begin exp", "a: output exp", "a: outputs exp", "a: end exp"));
  exp(x);
  EXPECT_THAT(events, SizeIs(4));
}

TEST(Observers, ADryRankReportsTheLaunchesThatItPlans) {
  distributed::DryWorld world(0, 1);
  const World::Scope dry(world);
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  const ObserverScope scope(a);
  exp(x);
  EXPECT_THAT(events,
              ElementsAre("a: begin exp", "a: planned exp", "a: outputs exp", "a: end exp"));
}

TEST(Observers, SeveralAreNotifiedInOrderAndOfEndsInReverse) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener b("b", &events);
  const ObserverScope outer(a);
  const ObserverScope inner(b);
  exp(x);
  EXPECT_THAT(events, ElementsAre("a: begin exp", "b: begin exp", "a: output exp", "b: output exp",
                                  "a: outputs exp", "b: outputs exp", "b: end exp", "a: end exp"));
}

TEST(Observers, AScopeWithinAnotherEndsAlone) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener b("b", &events);
  const ObserverScope outer(a);
  for (int time = 0; time < 2; ++time) {
    { const ObserverScope inner(b); }
    events.clear();
    exp(x);
    EXPECT_THAT(events,
                ElementsAre("a: begin exp", "a: output exp", "a: outputs exp", "a: end exp"));
  }
}

TEST(Observers, MayEndInAnyOrder) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener b("b", &events);
  auto first = std::make_unique<ObserverScope>(a);
  const ObserverScope second(b);
  first.reset();
  exp(x);
  EXPECT_THAT(events, ElementsAre("b: begin exp", "b: output exp", "b: outputs exp", "b: end exp"));
}

// Only those that heard of a begin hear of its end.
TEST(Observers, OneThatComesWithinACallHearsOfLaterOnes) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener late("late", &events);
  std::unique_ptr<ObserverScope> scope;
  a.act = [&](const std::string& event) {
    if (event == "a: begin exp") scope = std::make_unique<ObserverScope>(late);
  };
  const ObserverScope outer(a);
  exp(x);
  EXPECT_THAT(events, ElementsAre("a: begin exp", "a: output exp", "late: output exp",
                                  "a: outputs exp", "a: end exp"));
  a.act = [](const std::string&) {};
  events.clear();
  log(x);
  EXPECT_THAT(events, SizeIs(8));
}

TEST(Observers, OneThatGoesWithinACallHearsNothingMore) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener gone("gone", &events);
  auto scope = std::make_unique<ObserverScope>(gone);
  const ObserverScope outer(a);
  a.act = [&](const std::string&) { scope.reset(); };
  exp(x);
  EXPECT_THAT(events, ElementsAre("gone: begin exp", "a: begin exp", "a: output exp",
                                  "a: outputs exp", "a: end exp"));
}

// ---- errors ----

TEST(Observers, AnErrorEndsTheCallAndWhatHasBegun) {
  const Tensor x = numbers();
  for (const std::string at : {"begin", "output", "outputs"}) {
    SCOPED_TRACE(at);
    Events events;
    Listener a("a", &events);
    Listener b("b", &events);
    Listener c("c", &events);
    b.act = [&](const std::string& event) {
      if (event == "b: " + at + " exp") throw errors::OutOfRange("enough");
    };
    const ObserverScope first(a);
    const ObserverScope second(b);
    const ObserverScope third(c);
    EXPECT_THAT([&] { exp(x); }, ThrowsError(ErrorCode::kOutOfRange, "enough"));
    for (const char* name : {"a", "b", "c"}) {
      const auto count = [&](const char* event) {
        return std::ranges::count(events, fmt::format("{}: {} exp", name, event));
      };
      // An observer that throws at a begin gets no end, and those after it no begin.
      const bool has_begun = at != "begin" || name == std::string("a");
      EXPECT_EQ(count("end"), has_begun ? 1 : 0) << name;
      EXPECT_EQ(count(at.c_str()), name == std::string("c") ? 0 : 1) << name;
    }
    EXPECT_EQ(events.back(), "a: end exp");
    events.clear();
    b.act = [](const std::string&) {};
    exp(x);
    EXPECT_THAT(events, SizeIs(12));
  }
}

TEST(Observers, ACallThatFailsEnds) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  const ObserverScope scope(a);
  EXPECT_THAT([&] { softmax(x, 7); }, ThrowsError(ErrorCode::kOutOfRange, "softmax"));
  EXPECT_THAT(events, ElementsAre("a: begin softmax", "a: end softmax"));
}

TEST(Observers, ATraceIsCompleteAfterAnError) {
  const Tensor x = numbers();
  Events events;
  Trace trace;
  Listener a("a", &events);
  a.act = [](const std::string& event) {
    if (event == "a: output exp") throw errors::OutOfRange("enough");
  };
  const ObserverScope traced(trace);
  const ObserverScope scope(a);
  EXPECT_THAT([&] { exp(x); }, ThrowsError(ErrorCode::kOutOfRange, "enough"));
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_GE(trace[0].duration_ns, 0);
}

// ---- suspended ----

TEST(Observers, ASuspendedSectionIsNeitherReportedNorCounted) {
  const Tensor x = numbers();
  Events events;
  Trace trace;
  Listener a("a", &events);
  const ObserverScope traced(trace);
  const ObserverScope scope(a);
  const int64_t launched = RankContext::current().counters().ops_launched;
  {
    const SuspendObservers suspended;
    EXPECT_FALSE(RankContext::current().observers().any());
    exp(x);
    {
      // An observer of such a section.
      Listener inner("inner", &events);
      const ObserverScope own(inner);
      log(x);
      {
        const SuspendObservers again;
        exp(x);
      }
    }
    exp(x);
  }
  EXPECT_THAT(events, ElementsAre("inner: begin log", "inner: output log", "inner: outputs log",
                                  "inner: end log"));
  EXPECT_EQ(trace.size(), 0u);
  EXPECT_EQ(RankContext::current().counters().ops_launched, launched);
  events.clear();
  exp(x);
  EXPECT_THAT(events, SizeIs(4));
  EXPECT_EQ(trace.size(), 1u);
}

TEST(Observers, AnObserverMayCallWithinASuspendedSection) {
  const Tensor x = numbers();
  Events events;
  Listener a("a", &events);
  Listener b("b", &events);
  a.act = [&](const std::string&) {
    const SuspendObservers suspended;
    exp(log(x));
  };
  const ObserverScope first(a);
  const ObserverScope second(b);
  exp(x);
  EXPECT_THAT(events, SizeIs(8));
}

// ---- ranks ----

TEST(Observers, EachRankHasItsOwn) {
  run_ranks(3, [](World& world) {
    const Tensor x = numbers();
    Events events;
    std::vector<std::unique_ptr<Listener>> listeners;
    std::vector<std::unique_ptr<ObserverScope>> scopes;
    for (int64_t i = 0; i < world.rank(); ++i) {
      listeners.push_back(std::make_unique<Listener>(fmt::format("{}", i), &events));
      scopes.push_back(std::make_unique<ObserverScope>(*listeners.back()));
    }
    for (int time = 0; time < 50; ++time) exp(x);
    EXPECT_THAT(events, SizeIs(static_cast<size_t>(world.rank()) * 4 * 50));
    while (!scopes.empty()) scopes.pop_back();
    EXPECT_FALSE(RankContext::current().observers().any());
  });
}

TEST(Observers, ADistributedCallReportsDecisionReshardAndItsSteps) {
  run_ranks(2, [](World& world) {
    const Tensor x = shard_tensor(full({2, 4}, 1.0f), ProcessMesh({2}, {"tp"}), {Shard(1)});
    Events events;
    Listener a("a", &events);
    const ObserverScope scope(a);
    const int64_t before = world.rank_context().counters().bytes_received;
    softmax(x, 1);
    EXPECT_THAT(events,
                ElementsAre("a: begin softmax", "a: decision softmax", "a: reshard begin whole",
                            "a: reshard begin step", "a: transfer end exchange",
                            "a: reshard end step", "a: reshard end whole", "a: output softmax",
                            "a: outputs softmax", "a: end softmax"));
    EXPECT_GT(a.bytes_received, 0);
    EXPECT_EQ(a.bytes_received, world.rank_context().counters().bytes_received - before);
  });
}

// Its end is reported even where the rank's observers are suspended by then.
TEST(Observers, ATransferReportsItsArrival) {
  run_ranks(2, [](World& world) {
    Events events;
    Listener a("a", &events);
    Listener late("late", &events);
    const ObserverScope scope(a);
    auto in = std::make_shared<int64_t>(0);
    const int64_t out = 7;
    const distributed::Send send{1, &out, 8};
    const distributed::Recv recv{0, in.get(), 8};
    const auto transfer = world.rank() == 0
                              ? world.everyone().start_exchange({&send, 1}, {}, nullptr)
                              : world.everyone().start_exchange({}, {&recv, 1}, in);
    const ObserverScope second(late);
    const SuspendObservers suspended;
    transfer.wait();
    EXPECT_THAT(events, ElementsAre("a: transfer end exchange"));
  });
}

// ---- several of the tree's own observers ----

TEST(Observers, ExplainCheckTraceAndATestObserveTogether) {
  run_ranks(2, [](World&) {
    const Tensor x = shard_tensor(full({2, 4}, 1.0f), ProcessMesh({2}, {"tp"}), {Shard(1)});
    Events events;
    Trace trace;
    Listener a("a", &events);
    const ObserverScope traced(trace);
    const ObserverScope scope(a);
    Explanation whole;
    Explanation part;
    int64_t checked = 0;
    check_numbers([&] {
      whole = explain([&] {
        relu(x);
        checked = check_ops([&] { part = explain([&] { softmax(x, 1); }); });
      });
    });
    EXPECT_EQ(checked, 1);
    ASSERT_THAT(whole.calls, SizeIs(2));
    EXPECT_EQ(whole.calls[0].op, "relu");
    EXPECT_EQ(whole.calls[1].op, "softmax");
    ASSERT_THAT(part.calls, SizeIs(1));
    EXPECT_EQ(part.calls[0].op, "softmax");
    EXPECT_EQ(whole.calls[1].moved().received, part.calls[0].moved().received);
    std::vector<std::string> ops;
    for (size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].kind == TraceKind::kOp) ops.emplace_back(trace[i].name);
    }
    EXPECT_THAT(ops, ElementsAre("relu", "softmax"));
    EXPECT_EQ(std::ranges::count(events, "a: begin softmax"), 1);
    EXPECT_EQ(std::ranges::count(events, "a: end softmax"), 1);
  });
}

TEST(Observers, AFindingWithinAnExplanationNamesPlacements) {
  run_ranks(2, [](World&) {
    const Tensor x = shard_tensor(full({4}, -1.0f), ProcessMesh({2}, {"tp"}), {Shard(0)});
    EXPECT_THAT([&] { explain([&] { check_numbers([&] { log(x); }); }); },
                ThrowsError(ErrorCode::kNotFinite,
                            "operator log: its output has a number that is "
                            "not finite, element 0 of f32[2] of f32[4] [S0] "
                            "on mesh(tp=2)"));
    EXPECT_FALSE(RankContext::current().observers().any());
  });
}

TEST(Observers, ACaptureMayExplainAndBeExplained) {
  const Tensor x = numbers();
  Explanation inner;
  std::optional<Program> program;
  const Explanation outer = explain([&] {
    program = capture(
        [&](const TensorList& in) {
          TensorList out;
          inner = explain([&] { out.push_back(exp(in[0])); });
          return out;
        },
        {x});
  });
  EXPECT_THAT(outer.calls, IsEmpty());  // the capture is a run of its own
  ASSERT_THAT(inner.calls, SizeIs(1));
  EXPECT_EQ(inner.calls[0].op, "exp");
  EXPECT_TRUE(inner.is_dry);
  EXPECT_EQ(program->body().operations.size(), 1u);
}

TEST(Observers, ACaptureDoesNotCheckItsCalls) {
  EXPECT_THAT(
      [] {
        capture(
            [](const TensorList& in) {
              check_ops([&] { exp(in[0]); });
              return in;
            },
            {numbers()});
      },
      ThrowsError(ErrorCode::kPreconditionNotMet,
                  "check_ops is called within a function that is being captured"));
}

}  // namespace
}  // namespace phi
