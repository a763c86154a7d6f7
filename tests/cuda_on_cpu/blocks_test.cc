// Bugs of kernels and launches that the emulator finds by itself: with kernel, block and source
// line.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/kernels.h"
#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

// Names of kernels are in the symbol table, with the namespace they are in.
#define IN_KERNEL(name) ".*block \\(0, 0, 0\\) of 64 threads of kernel .*" name "\\(float\\*\\)"

class BlocksDeathTest : public ::testing::Test {
 protected:
  BlocksDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void run(Fault fault) {
    Session gpu;
    float* x = gpu.allocate<float>(1024);
    EXPECT_WORKS(faulty(gpu.stream, fault, x));
    EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  }
};

TEST_F(BlocksDeathTest, BarrierThatSomeThreadsSkip) {
  EXPECT_DEATH(run(Fault::kSkippedBarrier),
               "a barrier that some threads miss; wait for the block: thread 0 at "
               ".*faulty_kernels.cu:16 and 39 more; have ended: thread 40 and 23 more" IN_KERNEL(
                   "skipped_barrier"));
}

TEST_F(BlocksDeathTest, BarrierThatLanesSkip) {
  EXPECT_DEATH(run(Fault::kSkippedByLanes),
               "wait for the block: thread 16 at .*:24 and 47 more; wait for lanes of their warp: "
               "thread 0 at .*:22 and 15 more" IN_KERNEL("skipped_by_lanes"));
}

TEST_F(BlocksDeathTest, TwoBarriers) {
  EXPECT_DEATH(run(Fault::kTwoBarriers),
               "threads of a block wait at different barriers" IN_KERNEL("two_barriers"));
}

TEST_F(BlocksDeathTest, TwoWarpFunctions) {
  EXPECT_DEATH(run(Fault::kTwoWarpFunctions),
               "lanes of a warp meet in __shfl_xor_sync at .* and in __syncwarp at" IN_KERNEL(
                   "two_warp_functions"));
}

TEST_F(BlocksDeathTest, MaskWithoutSelf) {
  EXPECT_DEATH(run(Fault::kMaskWithoutSelf),
               "calls __shfl_xor_sync at .* with mask 0x0000ffff, which does not name it" IN_KERNEL(
                   "mask_without_self"));
}

TEST_F(BlocksDeathTest, OddWidth) {
  EXPECT_DEATH(run(Fault::kOddWidth),
               "has width 12, which is not a power of two" IN_KERNEL("odd_width"));
}

TEST_F(BlocksDeathTest, TilesOfHalfAWarp) {
  EXPECT_DEATH(run(Fault::kHalfWarpOfTiles), "tensor cores need all 32 lanes of a warp");
}

TEST_F(BlocksDeathTest, MisalignedTile) {
  EXPECT_DEATH(run(Fault::kMisalignedTile), "wmma needs an address that is a multiple of 32 bytes");
}

TEST_F(BlocksDeathTest, MisalignedMatrix) {
  EXPECT_DEATH(
      run(Fault::kMisalignedMatrix),
      "ldmatrix needs an address that is a multiple of 16 bytes" IN_KERNEL("misaligned_matrix"));
}

TEST_F(BlocksDeathTest, TooMuchSharedMemory) {
  EXPECT_DEATH(run(Fault::kTooMuchShared),
               "kernel .*too_much_shared.* has 65536 bytes of shared memory; 49152 is the most");
}

TEST(Blocks, FreshSharedMemoryIsNaN) {
  Session gpu;
  for (const auto order : {cuda_on_cpu::Order::kForward, cuda_on_cpu::Order::kBackward}) {
    cuda_on_cpu::set_order(order);
    float* sums = gpu.allocate<float>(3);
    EXPECT_WORKS(sum_of_nothing(gpu.stream, sums));
    const auto result = gpu.download(sums, 3);
    EXPECT_TRUE(std::isnan(result[0]));
    EXPECT_EQ(result[1], 2.0f);
    EXPECT_TRUE(std::isnan(result[2]));
  }
}

TEST(Blocks, MissingBarrierGivesWrongValues) {
  Session gpu;
  const auto x = some_floats(64);
  float* y = gpu.allocate<float>(64);
  EXPECT_WORKS(missing_barrier(gpu.stream, gpu.upload(x), y));
  const auto result = gpu.download(y, 64);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += result[i] == x[i] + x[(i + 32) % 64] ? 0 : 1;
  EXPECT_EQ(wrong, 32);  // the warp that came first
}

std::vector<int> arrivals_in(cuda_on_cpu::Order order, uint64_t seed = 1) {
  Session gpu;
  cuda_on_cpu::set_order(order, seed);
  int* when = gpu.allocate<int>(3 * 64);
  EXPECT_WORKS(arrivals(gpu.stream, gpu.upload(std::vector<int>{0}), when));
  return gpu.download(when, 3 * 64);
}

TEST(Blocks, OrdersAreThoseOfTheSettings) {
  using cuda_on_cpu::Order;
  std::vector<int> expected(3 * 64);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(arrivals_in(Order::kForward), expected);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(arrivals_in(Order::kBackward), expected);
  EXPECT_EQ(arrivals_in(Order::kDrawn, 1), arrivals_in(Order::kDrawn, 1));
  EXPECT_NE(arrivals_in(Order::kDrawn, 1), arrivals_in(Order::kDrawn, 2));
}

TEST(Blocks, SizesThatCudaRefuses) {
  Session gpu;
  const cudaError_t wrong = cudaErrorInvalidConfiguration;
  EXPECT_WORKS(nothing(gpu.stream, dim3(70000), dim3(1)));
  EXPECT_WORKS(nothing(gpu.stream, dim3(1, 65535), dim3(1)));
  EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(1024)));
  EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(16, 1, 64)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1), dim3(1025)));
  EXPECT_CUDA(wrong, cudaGetLastError());
  EXPECT_WORKS(cudaGetLastError());
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1), dim3(32, 33)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1), dim3(1, 1, 65)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1), dim3(0)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(0), dim3(1)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1, 65536), dim3(1)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(2147483648u), dim3(1)));
  EXPECT_CUDA(wrong, nothing(gpu.stream, dim3(1), dim3(1), 1024));
}

}  // namespace
}  // namespace cuda_on_cpu_test
