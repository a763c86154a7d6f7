// The account and the block cache of one rank, used by many threads: exact sums, exact peaks, and
// no byte that two storages have.
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <random>
#include <vector>

#include "phi/core/storage/memory_account.h"
#include "support/races.h"

namespace phi {
namespace {

using testing::at_once;
using testing::for_each_seed;

constexpr int kThreads = 6;

TEST(MemoryRaces, SumsAndPeaksAreExact) {
  for_each_seed(40, [](uint64_t seed) {
    const IntrusivePtr<MemoryAccount> account(new MemoryAccount);
    constexpr int64_t kAll = kThreads * (kThreads + 1) / 2 * 100;
    const int64_t rounds = 1 + static_cast<int64_t>(seed % 4);
    std::barrier<> all(kThreads);
    at_once(kThreads, [&](int thread) {
      const int64_t own = (thread + 1) * 100;
      for (int64_t round = 0; round < rounds; ++round) {
        account->add(DeviceKind::CPU, own);
        account->add(Tier::kHost, own);
        account->plan(own);
        all.arrive_and_wait();  // they hold most now
        account->remove(DeviceKind::CPU, own);
        account->remove(Tier::kHost, own);
        account->end_plan(own);
        all.arrive_and_wait();
      }
    });
    for (const MemoryStats& stats :
         {account->stats(DeviceKind::CPU), account->stats(Tier::kHost), account->planned()}) {
      EXPECT_EQ(stats.current, 0);
      EXPECT_EQ(stats.peak, kAll);
    }
  });
}

TEST(MemoryRaces, BlocksBelongToOneAtATime_AndAllComeBack) {
  for_each_seed(30, [](uint64_t seed) {
    BlockCache cache;
    at_once(kThreads, [&](int thread) {
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(thread));
      struct Held {
        std::byte* block;
        size_t nbytes;
      };
      std::vector<Held> held;
      const auto mark = static_cast<std::byte>(thread + 1);
      const auto give_back = [&] {
        const auto [block, nbytes] = held.back();
        held.pop_back();
        EXPECT_EQ(block[0], mark);
        EXPECT_EQ(block[nbytes - 1], mark);
        cache.free(block, nbytes);
      };
      for (int turn = 0; turn < 60; ++turn) {
        const size_t nbytes = size_t{64} << random() % 4;
        held.push_back({cache.allocate(nbytes), nbytes});
        std::memset(held.back().block, static_cast<int>(mark), nbytes);
        if (held.size() > 4) give_back();
        if (random() % 4 == 0) give_back();
        if (held.empty() || random() % 32 == 0) cache.release();
        const BlockCache::Stats stats = cache.stats();
        EXPECT_LE(stats.cached, stats.reserved);
        EXPECT_LE(stats.reserved, stats.peak_reserved);
      }
      while (!held.empty()) give_back();
    });
    EXPECT_EQ(cache.stats().reserved, cache.stats().cached);
    cache.release();
    EXPECT_EQ(cache.stats().reserved, 0);
  });
}

}  // namespace
}  // namespace phi
