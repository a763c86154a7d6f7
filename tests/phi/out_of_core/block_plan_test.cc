// Plans keep to their limit, get no slower with more memory, and reuse what fits.
#include "phi/out_of_core/block_plan.h"

#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

BlockedArray disk(int64_t rows, int64_t columns, DataType dtype = DataType::FLOAT32) {
  return BlockedArray::on_disk(nullptr, dtype, rows, columns);
}

MatmulArrays all_on_disk(int64_t m, int64_t n, int64_t k) {
  return {disk(m, k), disk(k, n), disk(m, n)};
}

TEST(BlockPlan, KeepsToTheLimitAndUsesMoreMemoryWell) {
  const MatmulArrays arrays = all_on_disk(20000, 30000, 10000);
  double seconds = 1e9;
  for (int64_t limit = 1 << 20; limit <= int64_t{8} << 30; limit *= 2) {
    const MatmulBlocks plan = plan_blocks(arrays, limit, {});
    EXPECT_LE(plan.device_bytes, limit);
    EXPECT_LE(plan.seconds, seconds);
    seconds = plan.seconds;
  }
  EXPECT_LT(seconds, 1.15 * 2 * 20000.0 * 30000.0 * 10000.0 / MatmulCosts().flops_per_s);
}

TEST(BlockPlan, TheLeastLimitIsNamedAndWorks) {
  for (const MatmulArrays& arrays : {all_on_disk(1, 1, 1), all_on_disk(1000, 77, 5000)}) {
    const int64_t least = least_device_bytes(arrays);
    EXPECT_LE(plan_blocks(arrays, least, {}).device_bytes, least);
    EXPECT_THAT([&] { plan_blocks(arrays, least - 1, {}); },
                ThrowsError(ErrorCode::kResourceExhausted,
                            "raise the limit to at least " + std::to_string(least)));
  }
}

TEST(BlockPlan, AnOperandThatFitsIsReadOnce) {
  // 4 GiB times 16 MiB: b stays, rows of a pass by.
  const MatmulBlocks plan = plan_blocks(all_on_disk(1 << 19, 2048, 2048), 256 << 20, {});
  EXPECT_EQ(plan.n, 2048);
  EXPECT_EQ(plan.k, 2048);
  EXPECT_EQ(plan.b_slots, 1);
  EXPECT_EQ(plan.a_slots, 2);
}

TEST(BlockPlan, ResidentArraysTakeNoMemory) {
  float x = 0;
  const auto here = [&](int64_t rows, int64_t columns) {
    return BlockedArray::resident(DataType::FLOAT32, &x, rows, columns);
  };
  const MatmulArrays arrays{here(5000, 4000), here(4000, 3000), here(5000, 3000)};
  const MatmulBlocks plan = plan_blocks(arrays, 0, {});
  EXPECT_EQ(plan.device_bytes, 0);
  EXPECT_EQ(plan.k, 4000);
}

TEST(BlockPlan, SixteenBitSumsAreHeldInFloat) {
  const auto bf16 = [](int64_t rows, int64_t columns) {
    return disk(rows, columns, DataType::BFLOAT16);
  };
  const MatmulArrays arrays{bf16(4096, 4096), bf16(4096, 4096), bf16(4096, 4096)};
  const MatmulBlocks plan = plan_blocks(arrays, 64 << 20, {});
  EXPECT_GE(plan.tile_bytes, plan.m * plan.n * 4);
  EXPECT_GT(plan.workspace_bytes, plan.k * plan.n * 4);
  EXPECT_LE(plan.device_bytes, 64 << 20);
}

}  // namespace
}  // namespace phi::memory
