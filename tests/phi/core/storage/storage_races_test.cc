// One storage and many ranks' threads: its source is read once for all, its bytes are on the
// account of the rank that brought them, and go back there, in whatever order the threads come.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/host_source.h"
#include "support/races.h"

namespace phi {
namespace {

using testing::at_once;
using testing::for_each_seed;

constexpr int kRanks = 5;
constexpr int kReaders = 4;  // of them, where the others wait for the bytes
constexpr int64_t kElements = 5000;

// Accounts that outlive the threads.
class Ranks {
 public:
  Ranks() {
    for (int rank = 0; rank < kRanks; ++rank) {
      contexts_.push_back(std::make_unique<RankContext>(rank, kRanks));
    }
  }
  RankContext& operator[](int rank) { return *contexts_[static_cast<size_t>(rank)]; }

  /// All at once, each on a thread of its own.
  void run(const std::function<void(int rank)>& body) {
    at_once(kRanks, [&](int rank) {
      const RankContext::Scope scope((*this)[rank]);
      body(rank);
    });
  }
  /// On this thread.
  template <typename F>
  auto as(int rank, const F& body) {
    const RankContext::Scope scope((*this)[rank]);
    return body();
  }

  int64_t held(int rank) { return (*this)[rank].memory()->stats(DeviceKind::CPU).current; }
  int64_t peak(int rank) { return (*this)[rank].memory()->stats(DeviceKind::CPU).peak; }
  int64_t held_by_all() {
    int64_t sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) sum += held(rank);
    return sum;
  }
  /// All blocks are back in the cache that they came from.
  void expect_nothing_held() {
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(held(rank), 0) << "rank " << rank;
      const BlockCache::Stats blocks = (*this)[rank].memory()->blocks().stats();
      EXPECT_EQ(blocks.reserved, blocks.cached) << "rank " << rank;
    }
  }

 private:
  std::vector<std::unique_ptr<RankContext>> contexts_;
};

// Elements are made of their place; the first reads fail, if so wished. What is written of it is
// not atomic: a storage lets one thread read at a time, and all come after it.
class NotedSource final : public Storage::Source {
 public:
  explicit NotedSource(int failures = 0) : failures_(failures) {}
  const TensorMeta& meta() const override { return meta_; }
  void read(const Box& box, DenseTensor* out) const override {
    ++reads;
    reader = static_cast<int>(RankContext::current().rank());
    if (failures_-- > 0) throw errors::Unavailable("the disk is away.");
    auto* to = out->mutable_data<int32_t>();
    for (int64_t i = 0; i < box.numel(); ++i) to[i] = value_at(i);
  }
  StorageState state() const override { return StorageState::kSwapped; }
  static int32_t value_at(int64_t i) { return static_cast<int32_t>(i * 7 + 1); }

  mutable int reads = 0;
  mutable int reader = -1;  // the last

 private:
  TensorMeta meta_ = {{kElements}, DataType::INT32};
  mutable int failures_;
};
constexpr int64_t kBytes = kElements * 4;

bool has_its_values(const Storage& storage) {
  const auto* values = reinterpret_cast<const int32_t*>(storage.data());
  for (int64_t i = 0; i < kElements; ++i) {
    if (values[i] != NotedSource::value_at(i)) return false;
  }
  return true;
}

TEST(StorageRaces, RanksThatNeedIt_ReadItOnce_AndTheReaderHoldsItsBytes) {
  for_each_seed(40, [](uint64_t /*seed*/) {
    Ranks ranks;
    const auto source = std::make_shared<const NotedSource>();
    auto storage = ranks.as(0, [&] { return Storage::from_source(CPUPlace(), source); });
    ranks.run([&](int rank) {
      const auto seen = storage->source();  // null for those who come late
      EXPECT_TRUE(!seen || seen == source) << "rank " << rank;
      if (rank >= kReaders) {
        while (!storage->has_bytes()) std::this_thread::yield();
      } else {
        storage->materialise();
      }
      EXPECT_TRUE(has_its_values(*storage)) << "rank " << rank;
      EXPECT_EQ(storage->nbytes_here(), static_cast<size_t>(kBytes));
    });
    EXPECT_EQ(source->reads, 1);
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(ranks.held(rank), rank == source->reader ? kBytes : 0) << "rank " << rank;
      EXPECT_EQ(ranks.peak(rank), rank == source->reader ? kBytes : 0) << "rank " << rank;
    }
    EXPECT_EQ(storage->source(), nullptr);
    ranks.as((source->reader + 1) % kRanks, [&] { storage = nullptr; });
    ranks.expect_nothing_held();
  });
}

// Not a race, but what makes one hard to see: who made it, who brought it, who put it out and who
// brought it again are any of three ranks.
TEST(StorageRaces, TheAccountIsThatOfWhoBroughtItLast) {
  constexpr int kThree = 3;
  for (int turn = 0; turn < kThree * kThree * kThree; ++turn) {
    const int reader = turn % kThree, writer = turn / kThree % kThree, again = turn / 9;
    SCOPED_TRACE(::testing::Message() << reader << ", " << writer << ", " << again);
    Ranks ranks;
    const auto source = std::make_shared<const NotedSource>();
    auto storage = ranks.as(0, [&] { return Storage::from_source(CPUPlace(), source); });
    ranks.as(reader, [&] { storage->materialise(); });
    EXPECT_EQ(ranks.held(reader), kBytes);
    EXPECT_EQ(ranks.held_by_all(), kBytes);
    ranks.as(writer, [&] { storage->swap_out(source); });
    EXPECT_EQ(ranks.held_by_all(), 0);
    ranks.as(again, [&] { storage->materialise(); });
    EXPECT_EQ(ranks.held(again), kBytes);
    EXPECT_EQ(ranks.held_by_all(), kBytes);
    storage = nullptr;
    ranks.expect_nothing_held();
  }
}

TEST(StorageRaces, ReadsThatFail_AreTriedAgainByTheNext) {
  for_each_seed(40, [](uint64_t seed) {
    Ranks ranks;
    const int failures = static_cast<int>(seed % kRanks);
    const auto source = std::make_shared<const NotedSource>(failures);
    auto storage = ranks.as(0, [&] { return Storage::from_source(CPUPlace(), source); });
    std::atomic<int> told = 0;
    ranks.run([&](int rank) {
      try {
        storage->materialise();
        EXPECT_TRUE(has_its_values(*storage)) << "rank " << rank;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
        told.fetch_add(1, std::memory_order_relaxed);
      }
    });
    EXPECT_EQ(told, failures);
    EXPECT_EQ(source->reads, failures + 1);
    EXPECT_EQ(ranks.held(source->reader), kBytes);
    EXPECT_EQ(ranks.held_by_all(), kBytes);
    storage = nullptr;
    ranks.expect_nothing_held();
  });
}

// Nobody looks at the bytes: whoever swaps out sees to that. The counts must hold all the same.
TEST(StorageRaces, MaterialisedSwappedOutAskedAndDropped_KeepsTheAccounts) {
  for_each_seed(40, [](uint64_t seed) {
    Ranks ranks;
    const auto source = std::make_shared<const NotedSource>();
    const auto other = std::make_shared<const NotedSource>();
    auto storage = ranks.as(0, [&] { return Storage::from_source(CPUPlace(), source); });
    const auto at_most = static_cast<size_t>(kBytes);
    ranks.run([&](int rank) {
      std::mt19937_64 random(seed * kRanks + static_cast<uint64_t>(rank));
      IntrusivePtr<Storage> own = storage;
      for (int turn = 0; turn < 12; ++turn) {
        switch (random() % 4) {
          case 0:
            own->materialise();
            break;
          case 1:
            own->swap_out(random() % 2 ? source : other);
            break;
          case 2: {
            const auto seen = own->source();
            EXPECT_TRUE(!seen || seen == source || seen == other);
            break;
          }
          default:
            EXPECT_NE(own->state(), StorageState::kPlaceholder);
            EXPECT_LE(own->nbytes_here(), at_most);
        }
      }
    });
    EXPECT_EQ(ranks.held_by_all(), static_cast<int64_t>(storage->nbytes_here()));
    const auto left = storage->source();
    EXPECT_EQ(storage->has_bytes(), left == nullptr);
    ranks.as(3, [&] { storage->materialise(); });
    EXPECT_TRUE(has_its_values(*storage));
    EXPECT_EQ(ranks.held_by_all(), kBytes);
    // The last handles go at the same time.
    std::vector<IntrusivePtr<Storage>> handles(kRanks, storage);
    storage = nullptr;
    ranks.run([&](int rank) { handles[static_cast<size_t>(rank)] = nullptr; });
    ranks.expect_nothing_held();
  });
}

// A tensor of the user that all ranks share: its host bytes are its maker's until it is here.
TEST(StorageRaces, AHostArrayIsLetGoOnce_WhenItsTensorIsHereOrGone) {
  for_each_seed(40, [](uint64_t seed) {
    Ranks ranks;
    const auto on_host = [&](int rank) { return ranks[rank].memory()->stats(Tier::kHost).current; };
    DenseTensor shared = ranks.as(0, [&] {
      auto source = HostSource::keep(std::vector<float>(kElements, 3.0f), {kElements});
      const TensorMeta meta = source->meta();
      return DenseTensor(meta, Storage::from_source(CPUPlace(), std::move(source)));
    });
    EXPECT_EQ(on_host(0), kBytes);
    ranks.run([&](int rank) {
      const DenseTensor own = shared;
      if (rank % 2 == static_cast<int>(seed % 2)) return;
      EXPECT_EQ(own.data<float>()[kElements - 1], 3.0f);
    });
    EXPECT_EQ(on_host(0), 0);
    EXPECT_EQ(ranks.held_by_all(), kBytes);
    int64_t crossed = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const TransferCount count = ranks[rank].transfers().of(Tier::kHost, Tier::kDevice);
      EXPECT_EQ(count.bytes, ranks.held(rank)) << "rank " << rank;
      crossed += count.count;
    }
    EXPECT_EQ(crossed, 1);
    shared = {};
    ranks.expect_nothing_held();
  });
}

// Ranks that capture share a tensor of the user's with ranks that compute: it is planned for some
// and comes for others.
TEST(StorageRaces, DryRanksPlanWhatRealOnesBringHere) {
  for_each_seed(20, [](uint64_t /*seed*/) {
    Ranks ranks;
    const auto source = std::make_shared<const NotedSource>();
    auto storage = ranks.as(0, [&] { return Storage::from_source(CPUPlace(), source); });
    const DenseTensor shared(source->meta(), storage);
    ranks.run([&](int rank) {
      if (rank % 2 == 0) {
        RankContext dry(rank, kRanks, Execution::kDry);
        const RankContext::Scope scope(dry);
        storage->materialise();
        for (bool is_here = false; !is_here;) {
          is_here = storage->has_bytes();
          EXPECT_TRUE(shared.computed_here()) << "planned, or here, or both";
        }
      } else {
        EXPECT_EQ(shared.data<int32_t>()[1], NotedSource::value_at(1));
      }
    });
    EXPECT_EQ(source->reads, 1);
    EXPECT_FALSE(storage->is_planned());
    EXPECT_EQ(ranks[0].memory()->planned().current, 0);
    EXPECT_EQ(ranks.held(source->reader), kBytes);
  });
}

TEST(StorageRaces, HandlesAreCountedExactly) {
  for_each_seed(10, [](uint64_t /*seed*/) {
    const auto storage = Storage::placeholder(CPUPlace(), {});
    at_once(kRanks, [&](int /*rank*/) {
      for (int turn = 0; turn < 2000; ++turn) {
        const IntrusivePtr<Storage> own = storage;
        const IntrusivePtr<Storage> other = own;
      }
    });
    EXPECT_EQ(storage->use_count(), 1);
  });
}

TEST(StorageRaces, IdsAreUnique) {
  for_each_seed(5, [](uint64_t /*seed*/) {
    constexpr size_t kEach = 200;
    std::vector<std::vector<uint64_t>> ids(kRanks);
    at_once(kRanks, [&](int rank) {
      for (size_t i = 0; i < kEach; ++i) {
        ids[static_cast<size_t>(rank)].push_back(Storage::placeholder(CPUPlace(), {})->id());
      }
    });
    std::vector<uint64_t> all;
    for (const auto& some : ids) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  });
}

}  // namespace
}  // namespace phi
