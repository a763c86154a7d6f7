// Scratch arrays have bytes of the rank's cache, which no tensor holds.
#include "phi/core/scratch_array.h"

#include <gtest/gtest.h>

#include "phi/core/rank_context.h"

namespace phi {
namespace {

constexpr int64_t kElements = 1 << 20;
const TensorMeta kMeta{{kElements}, DataType::FLOAT32};

TEST(ScratchArray, IsReservedAndNotATensor) {
  RankContext rank;
  const RankContext::Scope scope(rank);
  const auto stats = [] { return memory_stats(CPUPlace()); };
  {
    DenseTensor x = scratch_array(kMeta, CPUPlace());
    float* const values = x.mutable_data<float>();
    values[kElements - 1] = 3;
    const DenseTensor same = x;
    EXPECT_EQ(same.data<float>(), values);
    EXPECT_EQ(stats().peak, 0);
    EXPECT_GE(stats().reserved, 4 * kElements);
  }
  const int64_t kept = stats().reserved;
  { const DenseTensor y = scratch_array(kMeta, CPUPlace()); }
  EXPECT_EQ(stats().reserved, kept);
  release_cached();
  EXPECT_LT(stats().reserved, 4 * kElements);
}

TEST(ScratchArray, MayOutliveItsRank) {
  DenseTensor x;
  {
    RankContext rank;
    const RankContext::Scope scope(rank);
    x = scratch_array(kMeta, CPUPlace());
  }
  x.mutable_data<float>()[0] = 1;
}

TEST(ScratchArray, HasNoBytesInADryRun) {
  RankContext rank(0, 1, Execution::kDry);
  const RankContext::Scope scope(rank);
  const DenseTensor x = scratch_array(kMeta, CPUPlace());
  EXPECT_EQ(x.dims(), kMeta.dims);
  EXPECT_EQ(rank.memory()->planned().peak, 0);
  EXPECT_EQ(memory_stats(CPUPlace()).reserved, 0);
}

}  // namespace
}  // namespace phi
