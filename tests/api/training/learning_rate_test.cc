// Learning rates and the loss scale, step by step.
#include "api/training/learning_rate.h"

#include <gtest/gtest.h>

#include "api/training/loss_scaler.h"

namespace phi::training {
namespace {

TEST(LearningRateSchedule, WarmsUpLinearly) {
  const LearningRateSchedule rate{.peak = 0.8, .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(rate.at(1), 0.2);
  EXPECT_DOUBLE_EQ(rate.at(3), 0.6);
  EXPECT_DOUBLE_EQ(rate.at(4), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(1000), 0.8);
}

TEST(LearningRateSchedule, CosineEndsAtTheLowestRateAndStaysThere) {
  const LearningRateSchedule rate{
      .kind = LearningRateKind::kCosine, .peak = 1.0, .warmup_steps = 10, .total_steps = 110};
  EXPECT_DOUBLE_EQ(rate.at(10), 1.0);
  EXPECT_NEAR(rate.at(60), 0.55, 1e-12);
  EXPECT_NEAR(rate.at(110), 0.1, 1e-12);
  EXPECT_NEAR(rate.at(500), 0.1, 1e-12);
}

TEST(LearningRateSchedule, StepsDownAfterEachMilestone) {
  const LearningRateSchedule rate{
      .kind = LearningRateKind::kStep, .peak = 1.0, .milestones = {5, 8}, .gamma = 0.5};
  EXPECT_DOUBLE_EQ(rate.at(5), 1.0);
  EXPECT_DOUBLE_EQ(rate.at(6), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(9), 0.25);
}

// What is passed while the rate warms up counts from the step after.
TEST(LearningRateSchedule, AMilestoneWithinTheWarmUp) {
  const LearningRateSchedule rate{.kind = LearningRateKind::kStep,
                                  .peak = 1.0,
                                  .warmup_steps = 3,
                                  .milestones = {1, 4},
                                  .gamma = 0.5};
  EXPECT_DOUBLE_EQ(rate.at(2), 2.0 / 3);
  EXPECT_DOUBLE_EQ(rate.at(3), 1.0);
  EXPECT_DOUBLE_EQ(rate.at(4), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(5), 0.25);
}

TEST(LossScaler, HalvesOnOverflowAndDoublesAfterFiniteSteps) {
  LossScaler scale(8.0, /*growth_interval=*/2);
  scale.update(false);
  EXPECT_EQ(scale.value(), 4.0);
  scale.update(true);
  scale.update(true);
  EXPECT_EQ(scale.value(), 8.0);
  scale.update(true);
  scale.update(false);
  scale.update(true);
  EXPECT_EQ(scale.value(), 4.0);
}

TEST(LossScaler, OneByDefaultWhateverHappens) {
  LossScaler scale;
  scale.update(false);
  EXPECT_EQ(scale.value(), 1.0);
}

}  // namespace
}  // namespace phi::training
