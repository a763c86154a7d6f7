// Storages: their states, their identity, and the exact account of their bytes.
#include "phi/core/storage/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/storage_order.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

int64_t held() { return memory_stats(CPUPlace()).current; }

constexpr int64_t kElements = 5000;

// An array of sevens; the first `failures` reads fail.
class SevenSource : public Storage::Source {
 public:
  explicit SevenSource(StorageState state, int failures = 0) : state_(state), failures_(failures) {}
  const TensorMeta& meta() const override { return meta_; }
  void read(const Box& box, DenseTensor* out) const override {
    if (failures_-- > 0) throw errors::Unavailable("the disk is away.");
    std::fill_n(out->mutable_data<uint8_t>(), box.numel(), uint8_t{7});
  }
  StorageState state() const override { return state_; }

 private:
  TensorMeta meta_ = {{kElements}, DataType::UINT8};
  StorageState state_;
  mutable int failures_;
};

IntrusivePtr<Storage> sevens(StorageState state, int failures = 0) {
  return Storage::from_source(CPUPlace(), std::make_shared<const SevenSource>(state, failures));
}

TEST(Storage, SmallAndLargeBytesAreAlignedAndCounted) {
  RankContext context;
  const RankContext::Scope scope(context);
  for (size_t nbytes : {0u, 1u, 64u, 4096u, 4097u, 100000u}) {
    const auto storage = Storage::allocate(nbytes, CPUPlace());
    EXPECT_EQ(storage->state(), StorageState::kResident);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u) << nbytes;
    EXPECT_EQ(storage->nbytes_here(), nbytes);
    EXPECT_EQ(held(), static_cast<int64_t>(nbytes));
    if (nbytes > 0) std::memset(storage->data(), 1, nbytes);
  }
  EXPECT_EQ(held(), 0);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 100000);
}

TEST(Storage, ThePeakIsOfBytesHeldAtOnce) {
  RankContext context;
  const RankContext::Scope scope(context);
  {
    const auto a = Storage::allocate(1000, CPUPlace());
    auto b = Storage::allocate(5000, CPUPlace());
    const auto same = b;
    b = nullptr;
    EXPECT_EQ(held(), 6000);
  }
  const auto c = Storage::allocate(3000, CPUPlace());
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 6000);
  context.memory()->reset_peak(DeviceKind::CPU);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 3000);
}

TEST(Storage, BytesAreTakenFromTheAccountThatGotThem) {
  RankContext first;
  RankContext second;
  IntrusivePtr<Storage> storage;
  {
    const RankContext::Scope scope(first);
    storage = Storage::allocate(10000, CPUPlace());
  }
  const RankContext::Scope scope(second);
  storage = nullptr;  // on another rank's thread
  EXPECT_EQ(first.memory()->stats(DeviceKind::CPU).current, 0);
  EXPECT_EQ(held(), 0);
}

TEST(Storage, AStorageMayOutliveItsRank) {
  IntrusivePtr<Storage> storage;
  {
    RankContext context;
    const RankContext::Scope scope(context);
    storage = Storage::allocate(10000, CPUPlace());
  }
  EXPECT_EQ(storage->nbytes_here(), 10000u);
}

TEST(Storage, IdsAreUniqueAcrossThreads) {
  uint64_t other = 0;
  std::thread([&] { other = Storage::allocate(8, CPUPlace())->id(); }).join();
  const auto a = Storage::allocate(8, CPUPlace());
  const auto b = Storage::placeholder(CPUPlace(), {});
  EXPECT_NE(a->id(), b->id());
  EXPECT_NE(a->id(), other);
  EXPECT_NE(b->id(), other);
}

TEST(Storage, TheOrderOfAThreadsStoragesIsKnown) {
  const uint64_t first = Storage::placeholder(CPUPlace(), {})->id();
  for (int i = 0; i < 200000; ++i) {
    ASSERT_TRUE(is_known_to_follow(Storage::placeholder(CPUPlace(), {})->id(), first)) << i;
  }
  EXPECT_FALSE(is_known_to_follow(first, first));
  uint64_t other = 0;
  std::thread([&] { other = Storage::placeholder(CPUPlace(), {})->id(); }).join();
  EXPECT_FALSE(is_known_to_follow(other, first));
  EXPECT_FALSE(is_known_to_follow(first, other));
}

TEST(Storage, APlaceholderHasNoBytesAndCannotGetThem) {
  const int64_t before = held();
  const auto storage = Storage::placeholder(CPUPlace(), {"matmul"});
  EXPECT_EQ(storage->state(), StorageState::kPlaceholder);
  EXPECT_FALSE(storage->has_bytes());
  EXPECT_EQ(storage->nbytes_here(), 0u);
  EXPECT_EQ(held(), before);
  EXPECT_STREQ(storage->absence().op, "matmul");
  EXPECT_THAT([&] { storage->materialise(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "is a placeholder"));
}

TEST(Storage, DeferredAndSwappedBytesComeOnFirstUse) {
  RankContext context;
  const RankContext::Scope scope(context);
  for (const auto state : {StorageState::kDeferred, StorageState::kSwapped}) {
    const auto storage = sevens(state);
    const uint64_t id = storage->id();
    EXPECT_EQ(storage->state(), state);
    EXPECT_EQ(storage->nbytes(), 5000u);
    EXPECT_EQ(storage->nbytes_here(), 0u);
    EXPECT_EQ(held(), 0);
    storage->materialise();
    EXPECT_EQ(storage->state(), StorageState::kResident);
    EXPECT_EQ(storage->data()[4999], std::byte{7});
    EXPECT_EQ(held(), 5000);
    EXPECT_EQ(storage->id(), id);
    storage->materialise();  // changes nothing
    EXPECT_EQ(held(), 5000);
  }
}

TEST(Storage, AFailedReadLeavesTheStorageAsItWas) {
  RankContext context;
  const RankContext::Scope scope(context);
  const auto storage = sevens(StorageState::kSwapped, 1);
  EXPECT_THAT([&] { storage->materialise(); },
              ThrowsError(ErrorCode::kUnavailable, "the disk is away"));
  EXPECT_EQ(storage->state(), StorageState::kSwapped);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(held(), 0);
  storage->materialise();
  EXPECT_EQ(storage->data()[0], std::byte{7});
  EXPECT_EQ(held(), 5000);
}

// A slow source that counts how often it is read.
class CountedSource : public Storage::Source {
 public:
  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  void read(const Box& box, DenseTensor* out) const override {
    ++reads;
    std::this_thread::yield();
    std::fill_n(out->mutable_data<uint8_t>(), box.numel(), uint8_t{7});
  }
  mutable std::atomic<int> reads = 0;

 private:
  TensorMeta meta_ = {{kElements}, DataType::UINT8};
};

TEST(Storage, ManyThreadsThatUseItReadItOnce) {
  const auto source = std::make_shared<const CountedSource>();
  const auto storage = Storage::from_source(CPUPlace(), source);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto seen = storage->source();  // null for those who come late
      EXPECT_TRUE(!seen || seen == source);
      storage->materialise();
      right += storage->data()[kElements - 1] == std::byte{7};
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(source->reads, 1);
  EXPECT_EQ(storage->source(), nullptr);
}

TEST(Storage, ADryRunPlansTheBytesAndKeepsTheSource) {
  const auto source = std::make_shared<const CountedSource>();
  RankContext real;
  IntrusivePtr<Storage> storage;
  RankContext dry(0, 1, Execution::kDry);
  {
    const RankContext::Scope scope(dry);
    storage = Storage::planned_from_source(CPUPlace(), source);
    EXPECT_EQ(dry.memory()->planned().current, kElements);
    storage->materialise();  // plans what is planned already
    EXPECT_EQ(dry.memory()->planned().peak, kElements);
    EXPECT_TRUE(storage->is_planned());
    EXPECT_FALSE(storage->has_bytes());
    EXPECT_EQ(source->reads, 0);
  }
  const RankContext::Scope scope(real);
  EXPECT_EQ(storage->source(), source);
  storage->materialise();
  EXPECT_EQ(storage->data()[0], std::byte{7});
  EXPECT_FALSE(storage->is_planned());
  EXPECT_EQ(dry.memory()->planned().current, 0);
  EXPECT_EQ(held(), kElements);
  EXPECT_EQ(transfer_stats().of(Tier::kDisk, Tier::kDevice), (TransferCount{1, kElements}));
}

TEST(Storage, AFailedReadIsNoTransfer) {
  class Broken : public CountedSource {
    void read(const Box&, DenseTensor*) const override {
      throw errors::Unavailable("the disk is away.");
    }
  };
  RankContext context;
  const RankContext::Scope scope(context);
  const auto storage = Storage::from_source(CPUPlace(), std::make_shared<const Broken>());
  EXPECT_THAT([&] { storage->materialise(); },
              ThrowsError(ErrorCode::kUnavailable, "the disk is away"));
  EXPECT_EQ(transfer_stats().of(Tier::kDisk, Tier::kDevice), TransferCount{});
}

TEST(Storage, ErrorsSaySizeAndPlace) {
  EXPECT_THAT([] { Storage::allocate(8, GPUPlace(1)); },
              ThrowsError(ErrorCode::kUnimplemented, "no device for place gpu:1"));
  EXPECT_THAT([] { Storage::allocate(size_t{1} << 60, CPUPlace()); },
              ThrowsError(ErrorCode::kResourceExhausted, "cannot allocate 1152921504606846976"));
}

}  // namespace
}  // namespace phi
