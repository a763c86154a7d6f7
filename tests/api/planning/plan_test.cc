// Plans of a subject whose layouts fail, do not fit, or take too long to simulate.
#include "api/planning/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "api/generated/ops/relu.h"
#include "api/nn/layers/linear.h"
#include "api/nn/loss.h"
#include "api/planning/plan_text.h"
#include "api/planning/planned_model.h"
#include "api/tensor/placeholder.h"
#include "phi/common/errors.h"
#include "phi/tensor_api.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::simulator::MachineModel;
using ::testing::HasSubstr;

constexpr int64_t kSamples = 8, kWidth = 16;

class Narrow final : public nn::Layer {
 public:
  Narrow() : up_(*this, "up", kWidth, 4 * kWidth, {}), down_(*this, "down", 4 * kWidth, 1, {}) {}
  Tensor forward(const Tensor& x) const override { return down_(relu(up_(x))); }

 private:
  nn::Linear up_, down_;
};

MachineModel two_links() {
  MachineModel machine;
  machine.families[DataType::FLOAT32] = {
      {"matmul", {"matmul", "matmul_grad"}, distributed::simulator::WorkUnit::kFlops, {{1, 1e9}}},
      {"bytes", {}, distributed::simulator::WorkUnit::kBytes, {{1, 1e9}}}};
  machine.links = {{"node", 2, 1, 1}, {"cluster", 0, 5, 0.2}};
  return machine;
}

ModelToPlan narrow_to_plan() {
  const auto floats = [](const Dims& shape) {
    return placeholder(shape, DataType::FLOAT32, CPUPlace());
  };
  return {.make = [] { return std::make_shared<Narrow>(); },
          .loss = nn::mean_squared_error,
          .batch = {floats({kSamples, kWidth}), floats({kSamples, 1})}};
}

// Refuses layouts as late as in the simulation of the whole job.
class FailingSubject final : public PlanSubject {
 public:
  using Fails = std::function<bool(const JobLayout&)>;

  explicit FailingSubject(Fails fails) : fails_(std::move(fails)) {}

  distributed::LayoutSpace space() const override { return model_.space(); }
  std::optional<std::string> refusal(const JobLayout& layout) const override {
    return model_.refusal(layout);
  }
  Trial trial(const JobLayout& layout, int64_t global_batch, int64_t layers) const override {
    return model_.trial(layout, global_batch, layers);
  }
  simulation::RankTotals totals_of(const JobLayout& layout, int64_t rank) const override {
    ++held_;
    return model_.totals_of(layout, rank);
  }
  simulation::PredictedStep predict(const JobLayout& layout) const override {
    if (fails_(layout)) throw errors::InvalidArgument("there is a late fault.");
    return model_.predict(layout);
  }

  const MachineModel& machine() const { return machine_; }
  int held() const { return held_; }

 private:
  MachineModel machine_ = two_links();
  PlannedModel model_{narrow_to_plan(), /*devices=*/4, machine_};
  Fails fails_;
  mutable int held_ = 0;
};

// With searched placements, a step takes `factor` times as long, or fails.
class SearchingSubject final : public PlanSubject {
 public:
  explicit SearchingSubject(double factor, bool fails = false) : factor_(factor), fails_(fails) {}

  distributed::LayoutSpace space() const override { return model_.space(); }
  std::optional<std::string> refusal(const JobLayout& layout) const override {
    return model_.refusal(layout);
  }
  bool can_search_placements(const JobLayout& layout) const override { return layout.tp > 1; }
  Trial trial(const JobLayout& layout, int64_t global_batch, int64_t layers) const override {
    EXPECT_FALSE(layout.has_searched_placements);
    return model_.trial(layout, global_batch, layers);
  }
  simulation::RankTotals totals_of(const JobLayout& layout, int64_t rank) const override {
    return model_.totals_of(layout, rank);
  }
  simulation::PredictedStep predict(const JobLayout& layout) const override {
    simulation::PredictedStep step = model_.predict(layout);
    if (!layout.has_searched_placements) return step;
    ++searched_;
    if (fails_) throw errors::InvalidArgument("there are no such placements.");
    step.prediction.step_seconds *= factor_;
    return step;
  }

  const MachineModel& machine() const { return machine_; }
  int searched() const { return searched_; }

 private:
  MachineModel machine_ = two_links();
  PlannedModel model_{narrow_to_plan(), /*devices=*/4, machine_};
  double factor_;
  bool fails_;
  mutable int searched_ = 0;
};

PlanResult plan_with_search(const SearchingSubject& subject) {
  return Planner(subject, subject.machine(), {.finalists = 40, .searches_placements = true}).plan();
}

bool never(const JobLayout&) { return false; }
bool always(const JobLayout&) { return true; }

size_t num_refused(const PlanResult& result) {
  size_t count = 0;
  for (const RefusedLayouts& each : result.refused) count += each.count;
  return count;
}

TEST(Planner, AFinalistThatFailsIsRefusedAndTheNextFollows) {
  const FailingSubject right(never);
  const PlanResult all = Planner(right, right.machine(), {.finalists = 4}).plan();
  ASSERT_EQ(all.plans.size(), 4);
  const JobLayout first = all.plans[0].layout;
  const FailingSubject failing(
      [&](const JobLayout& layout) { return to_string(layout) == to_string(first); });
  const PlanResult result = Planner(failing, failing.machine(), {.finalists = 3}).plan();
  ASSERT_EQ(result.plans.size(), 3);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(to_string(result.plans[i].layout), to_string(all.plans[i + 1].layout));
  const auto refused =
      std::ranges::find(result.refused, "there is a late fault.", &RefusedLayouts::reason);
  ASSERT_NE(refused, result.refused.end());
  EXPECT_EQ(refused->count, 1);
  EXPECT_EQ(to_string(refused->first), to_string(first));
  EXPECT_EQ(result.possible + num_refused(result), result.layouts);
}

TEST(Planner, EquallyFastPlansAreInTheOrderOfTheirMemory) {
  const FailingSubject subject(never);
  const PlanResult result = Planner(subject, subject.machine(), {.finalists = 40}).plan();
  const auto order = [](const PlannedLayout& plan) {
    return std::tuple(plan.nanoseconds(), plan.peak_bytes, plan.layout.zero_stage);
  };
  EXPECT_TRUE(std::ranges::is_sorted(result.plans, {}, order));
  // The sums of their seconds may differ in the last bit.
  PlannedLayout other = result.plans.front();
  auto predicted = *other.predicted;
  predicted.step_seconds *= 1 + 1e-15;
  predicted.ranks.front().exposed_seconds += 1;
  other.predicted = std::make_shared<const simulation::Prediction>(predicted);
  EXPECT_THAT(table(std::vector{Alternative{"zero_stage 2", other}}, result.plans.front()),
              HasSubstr("why not zero_stage 2: +0 s  ("));
}

TEST(Planner, IfAllFailTheReasonIsNamed) {
  const FailingSubject failing(always);
  const PlanResult result = Planner(failing, failing.machine()).plan();
  EXPECT_TRUE(result.plans.empty());
  EXPECT_THAT(fault(result, 1 << 20), HasSubstr("layouts is possible:\n"));
  EXPECT_THAT(fault(result, 1 << 20), HasSubstr(": there is a late fault."));
  EXPECT_EQ(result.possible + num_refused(result), result.layouts);
}

TEST(Planner, FasterSearchedPlacementsAreThoseOfThePlan) {
  const SearchingSubject subject(0.5);
  const PlanResult result = plan_with_search(subject);
  const PlanResult declared = Planner(subject, subject.machine(), {.finalists = 40}).plan();
  EXPECT_EQ(result.plans.size(), declared.plans.size());
  for (const PlannedLayout& plan : result.plans)
    EXPECT_EQ(plan.layout.has_searched_placements, plan.layout.tp > 1) << to_string(plan.layout);
  for (const PlannedLayout& plan : declared.plans)
    EXPECT_FALSE(plan.layout.has_searched_placements);
  const auto found = std::ranges::find_if(
      result.plans, [](const PlannedLayout& plan) { return plan.layout.tp > 1; });
  ASSERT_NE(found, result.plans.end());
  EXPECT_THAT(to_string(found->layout), HasSubstr("  searched placements"));
  EXPECT_THAT(to_json(result, {}).dump(), HasSubstr(R"("placements":"searched")"));
}

TEST(Planner, SlowerOrFailingSearchedPlacementsAreNotTaken) {
  const SearchingSubject slower(1.5);
  const SearchingSubject failing(0.5, /*fails=*/true);
  for (const SearchingSubject* subject : {&slower, &failing}) {
    const PlanResult result = plan_with_search(*subject);
    EXPECT_GT(subject->searched(), 0);
    for (const PlannedLayout& plan : result.plans)
      EXPECT_FALSE(plan.layout.has_searched_placements);
    EXPECT_EQ(result.possible + num_refused(result), result.layouts);
  }
}

TEST(Planner, ExplainsThePlacementsThatAPlanDoesNotHave) {
  const auto differences = [](double factor) {
    const SearchingSubject subject(factor);
    Planner planner(subject, subject.machine(), {.finalists = 40, .searches_placements = true});
    const PlanResult result = planner.plan();
    const auto plan = std::ranges::find_if(
        result.plans, [](const PlannedLayout& each) { return each.layout.tp > 1; });
    return table(planner.alternatives_to(*plan), *plan);
  };
  EXPECT_THAT(differences(0.5), HasSubstr("why not placements declared: +"));
  EXPECT_THAT(differences(1.5), HasSubstr("why not placements searched: +"));
}

TEST(Planner, TheTimeLimitEndsTheSearchForTheSmallestLayout) {
  const FailingSubject right(never);
  const PlannerOptions options{.memory_bytes = 1, .time_limit_s = 1e-9};
  const PlanResult result = Planner(right, right.machine(), options).plan();
  EXPECT_TRUE(result.plans.empty());
  EXPECT_FALSE(result.is_complete);
  EXPECT_EQ(right.held(), 1);
  EXPECT_THAT(fault(result, 1), HasSubstr("no layout that was simulated within the time limit fits "
                                          "into 1 B of a rank; allow more time. The smallest of "
                                          "them is"));
  const FailingSubject failing(always);
  const PlanResult failed = Planner(failing, failing.machine(), {.time_limit_s = 1e-9}).plan();
  EXPECT_EQ(failing.held(), 1);
  EXPECT_THAT(fault(failed, 1 << 20),
              HasSubstr("no layout that was simulated within the time limit "
                        "is possible; allow more time:\n"));
  // Where the layout fits, it is the plan.
  EXPECT_EQ(Planner(right, right.machine(), {.time_limit_s = 1e-9}).plan().plans.size(), 1);
}

}  // namespace
}  // namespace phi::planning
