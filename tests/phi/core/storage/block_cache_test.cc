// The cache of host blocks: size classes, reuse, what is reserved, and what happens when memory
// ends.
#include "phi/core/storage/block_cache.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/storage.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCacheIsOff = true;
#else
constexpr bool kCacheIsOff = false;
#endif

class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kCacheIsOff) GTEST_SKIP() << "AddressSanitizer: freed blocks go back to the system";
  }
};
using BlockCacheTest = CacheTest;
using StorageCacheTest = CacheTest;

TEST(SizeClass, HoldsTheRequestAndWastesLittle) {
  int last_index = -1;
  size_t last_size = 0;
  for (size_t n = 1; n < (size_t{1} << 22); n += n < 70000 ? 1 : 997) {
    const SizeClass size = SizeClass::of(n);
    ASSERT_GE(size.nbytes, n);
    ASSERT_EQ(size.nbytes % 64, 0u) << n;
    if (n > 512) {
      ASSERT_LE(static_cast<double>(size.nbytes), 1.125 * static_cast<double>(n)) << n;
    }
    ASSERT_EQ(SizeClass::of(size.nbytes).index, size.index) << n;
    ASSERT_GE(size.index, last_index) << n;
    ASSERT_EQ(size.index == last_index, size.nbytes == last_size) << n;
    last_index = size.index;
    last_size = size.nbytes;
  }
  EXPECT_EQ(SizeClass::of(0).nbytes, 64u);
  EXPECT_EQ(SizeClass::of(SizeClass::kLargestRequest).index, SizeClass::kCount - 1);
}

// Bytes in use that malloc allocated.
size_t on_heap() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(BlockCacheTest, LargeBlocksAreNotOnTheHeap) {
  BlockCache cache;
  std::vector<std::pair<std::byte*, size_t>> blocks;
  blocks.reserve(4);
  const size_t before = on_heap();
  for (const size_t n : {size_t{65536}, size_t{100000}, size_t{1} << 20, size_t{9000000}}) {
    blocks.emplace_back(cache.allocate(n), n);
    std::memset(blocks.back().first, 1, n);
  }
  EXPECT_EQ(on_heap(), before);
  for (const auto& [block, n] : blocks) cache.free(block, n);
  cache.release();
  EXPECT_EQ(cache.stats().reserved, 0);
  for (const auto& [block, n] : blocks) {
    std::byte* const last = block + (SizeClass::of(n).nbytes - 1) / 4096 * 4096;
    EXPECT_EQ(msync(block, 4096, MS_ASYNC), -1) << n;  // not mapped
    EXPECT_EQ(msync(last, 4096, MS_ASYNC), -1) << n;
  }
}

TEST_F(BlockCacheTest, ReleasesBlocksOfEachClass) {
  BlockCache cache;
  for (size_t n = 1; n < (size_t{1} << 23); n = SizeClass::of(n).nbytes + 1) {
    std::byte* const block = cache.allocate(n);
    block[0] = block[n - 1] = std::byte{1};
    cache.free(block, n);
  }
  cache.release();
  EXPECT_EQ(cache.stats().reserved, 0);
  std::byte* const again = cache.allocate(size_t{3} << 20);
  again[0] = again[(size_t{3} << 20) - 1] = std::byte{1};
  cache.free(again, size_t{3} << 20);
}

TEST_F(BlockCacheTest, ABlockServesTheNextRequestOfItsClass) {
  BlockCache cache;
  for (const size_t n : {1u, 100u, 5000u, 1000000u, 9000000u}) {
    std::byte* block = cache.allocate(n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, 1, n);
    cache.free(block, n);
    const size_t same_class = SizeClass::of(n).nbytes;
    EXPECT_EQ(cache.allocate(same_class), block) << n;
    cache.free(block, same_class);
  }
}

TEST_F(BlockCacheTest, CountsWhatItTookFromTheSystem) {
  BlockCache cache;
  std::byte* a = cache.allocate(1024);
  std::byte* b = cache.allocate(1025);  // 1152 with rounding
  EXPECT_EQ(cache.stats().reserved, 1024 + 1152);
  EXPECT_EQ(cache.stats().cached, 0);
  cache.free(a, 1024);
  EXPECT_EQ(cache.stats().reserved, 1024 + 1152);
  EXPECT_EQ(cache.stats().cached, 1024);
  cache.release();
  EXPECT_EQ(cache.stats().reserved, 1152);
  EXPECT_EQ(cache.stats().peak_reserved, 1024 + 1152);
  cache.reset_peak();
  EXPECT_EQ(cache.stats().peak_reserved, 1152);
  cache.free(b, 1025);
}

TEST_F(BlockCacheTest, SizesThatNobodyAsksForAgainAreGivenBack) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  BlockCache cache;
  for (int64_t mib = 16; mib <= 160; mib += 16) {  // ten classes, one block in use at a time
    cache.free(cache.allocate(mib * kMiB), mib * kMiB);
  }
  // All ten would be 880 MiB; the cache may hold the peak of bytes in use before one is added.
  EXPECT_LE(cache.stats().reserved, 2 * 160 * kMiB);
}

TEST_F(BlockCacheTest, ThreadsShareItSafely) {
  BlockCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 2000; ++i) {
        const size_t n = 64 * (1 + i % 5);
        std::byte* block = cache.allocate(n);
        std::memset(block, t, n);
        for (size_t at = 0; at < n; at += 63) ASSERT_EQ(block[at], static_cast<std::byte>(t));
        cache.free(block, n);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.stats().reserved, cache.stats().cached);
}

// Bytes of address space that this process has.
size_t address_space() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

TEST_F(BlockCacheTest, WhenMemoryEndsTheCacheIsGivenBackAndTheSystemAskedAgain) {
  constexpr size_t kMiB = size_t{1} << 20;
  BlockCache cache;
  cache.free(cache.allocate(48 * kMiB), 48 * kMiB);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = address_space() + 16 * kMiB;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  std::byte* block = cache.allocate(40 * kMiB);  // fits only where the cached 48 MiB were
  std::byte* too_much = cache.allocate(100 * kMiB);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(too_much, nullptr);
  EXPECT_EQ(cache.stats().reserved, static_cast<int64_t>(40 * kMiB));
  cache.free(block, 40 * kMiB);
}

TEST_F(StorageCacheTest, SmallAndLargeStoragesReuseBlocksAndKeepTheExactAccount) {
  RankContext context;
  const RankContext::Scope scope(context);
  for (const size_t n : {10u, 4096u, 100000u}) {
    const std::byte* first = Storage::allocate(n, CPUPlace())->data();
    const auto reserved = memory_stats(CPUPlace()).reserved;
    const auto again = Storage::allocate(n, CPUPlace());
    EXPECT_EQ(again->data(), first) << n;
    EXPECT_EQ(memory_stats(CPUPlace()).current, static_cast<int64_t>(n));
    EXPECT_EQ(memory_stats(CPUPlace()).reserved, reserved);
    EXPECT_GE(reserved, static_cast<int64_t>(n));
  }
  EXPECT_GT(memory_stats(CPUPlace()).peak_reserved, 0);
  release_cached();
  EXPECT_EQ(memory_stats(CPUPlace()).reserved, 0);
}

TEST_F(StorageCacheTest, ARankThatFreesAnothersStorageFillsTheOthersCache) {
  RankContext owner;
  RankContext other;
  IntrusivePtr<Storage> storage;
  {
    const RankContext::Scope scope(owner);
    storage = Storage::allocate(100000, CPUPlace());
  }
  std::thread([&] {
    const RankContext::Scope scope(other);
    storage = nullptr;
  }).join();
  EXPECT_EQ(other.memory()->stats(DeviceKind::CPU).reserved, 0);
  EXPECT_EQ(owner.memory()->blocks().stats().cached, owner.memory()->blocks().stats().reserved);
  EXPECT_GE(owner.memory()->blocks().stats().cached, 100000);
}

TEST(StorageMemory, AFailedAllocationLeavesTheAccountAsItWas) {
  RankContext context;
  const RankContext::Scope scope(context);
  const auto kept = Storage::allocate(5000, CPUPlace());
  EXPECT_THAT([] { Storage::allocate(size_t{1} << 46, CPUPlace()); },
              ThrowsError(ErrorCode::kResourceExhausted, "tensors of this rank occupy 5000 bytes"));
  EXPECT_EQ(memory_stats(CPUPlace()).current, 5000);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 5000);
}

}  // namespace
}  // namespace phi
