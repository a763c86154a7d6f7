// Which losses are told of.
#include "api/training/loss_jump_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace phi::training {
namespace {

// Fills the window with losses of mean 3 and standard deviation 0.1.
LossJumpDetector filled(double z) {
  LossJumpDetector jumps(z, 8);
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(jumps.add(i % 2 == 0 ? 2.9 : 3.1));
  return jumps;
}

TEST(LossJumpDetector, IsTheDistanceInStandardDeviations) {
  LossJumpDetector jumps = filled(4.0);
  EXPECT_FALSE(jumps.add(3.39));
  jumps = filled(4.0);
  const auto jump = jumps.add(3.6);
  ASSERT_TRUE(jump);
  EXPECT_NEAR(*jump, 6.0, 1e-9);
}

TEST(LossJumpDetector, OneOutlierDoesNotHideTheNext) {
  LossJumpDetector jumps = filled(4.0);
  EXPECT_TRUE(jumps.add(9.0));
  EXPECT_FALSE(jumps.add(3.0));
  EXPECT_TRUE(jumps.add(9.0));
}

TEST(LossJumpDetector, ANewLevelIsToldOnce) {
  LossJumpDetector jumps = filled(4.0);
  EXPECT_TRUE(jumps.add(9.0));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(jumps.add(9.0 + 0.1 * (i % 2))) << i;
  EXPECT_TRUE(jumps.add(12.0));
}

TEST(LossJumpDetector, FallsAndShortWindowsAreNoJumps) {
  LossJumpDetector jumps = filled(4.0);
  EXPECT_FALSE(jumps.add(0.1));
  LossJumpDetector young(4.0, 8);
  for (const double loss : {3.0, 3.0, 90.0}) EXPECT_FALSE(young.add(loss));
}

TEST(LossJumpDetector, EqualLossesAreToldFromRounding) {
  LossJumpDetector jumps(4.0, 4);
  for (int i = 0; i < 4; ++i) jumps.add(2.0);
  EXPECT_FALSE(jumps.add(2.0 + 1e-9));
  EXPECT_TRUE(jumps.add(2.1));
}

TEST(LossJumpDetector, ZeroIsOffAndWhatIsNotFiniteIsNotCounted) {
  LossJumpDetector off(0.0, 2);
  for (const double loss : {1.0, 1.0, 100.0}) EXPECT_FALSE(off.add(loss));
  LossJumpDetector jumps = filled(4.0);
  EXPECT_FALSE(jumps.add(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(jumps.add(3.6));
}

}  // namespace
}  // namespace phi::training
