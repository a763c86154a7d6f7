// Counts of transfers between tiers.
#include "phi/core/storage/tier.h"

#include <gtest/gtest.h>

#include "phi/core/rank_context.h"

namespace phi {
namespace {

TEST(TransferStats, CountsEachPairOfTiersApart) {
  RankContext context;
  const RankContext::Scope scope(context);
  count_transfer(Tier::kHost, Tier::kDevice, 100);
  count_transfer(Tier::kHost, Tier::kDevice, 20);
  count_transfer(Tier::kDevice, Tier::kDisk, 3);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), (TransferCount{2, 120}));
  EXPECT_EQ(transfer_stats().of(Tier::kDevice, Tier::kDisk), (TransferCount{1, 3}));
  EXPECT_EQ(transfer_stats().of(Tier::kDevice, Tier::kHost), TransferCount{});
  reset_transfer_stats();
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), TransferCount{});
}

TEST(TransferStats, AreThoseOfTheCallingRank) {
  RankContext first;
  RankContext second;
  const RankContext::Scope outer(first);
  count_transfer(Tier::kDisk, Tier::kDevice, 8);
  const RankContext::Scope inner(second);
  EXPECT_EQ(transfer_stats().of(Tier::kDisk, Tier::kDevice), TransferCount{});
}

TEST(MemoryStats, OfALowerTierHaveAPeakThatCanBeginAnew) {
  RankContext context;
  const RankContext::Scope scope(context);
  context.memory()->add(Tier::kHost, 100);
  context.memory()->add(Tier::kHost, 50);
  context.memory()->remove(Tier::kHost, 100);
  EXPECT_EQ(memory_stats(Tier::kHost).current, 50);
  EXPECT_EQ(memory_stats(Tier::kHost).peak, 150);
  EXPECT_EQ(memory_stats(Tier::kDisk).peak, 0);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 0);
  context.memory()->add(DeviceKind::CPU, 7);
  EXPECT_EQ(memory_stats(Tier::kDevice).current, 7);
  reset_memory_peak(Tier::kHost);
  EXPECT_EQ(memory_stats(Tier::kHost).peak, 50);
}

}  // namespace
}  // namespace phi
