// Ranges of a source against the whole of it; borrowed and swapped storages.
#include "phi/core/storage/source_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "phi/core/rank_context.h"
#include "phi/core/storage/host_source.h"
#include "phi/core/storage/storage_from_blob.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

std::shared_ptr<const HostSource> counted(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(dims.numel()));
  std::iota(values.begin(), values.end(), 1.0f);
  return HostSource::keep(std::move(values), dims);
}

TEST(ReadBytes, AnyRangeOfAnyShape) {
  for (const Dims& dims : {Dims{7}, Dims{3, 5}, Dims{2, 3, 4}, Dims{4, 1, 3}, Dims{}}) {
    const auto source = counted(dims);
    for (int64_t first = 0; first <= dims.numel(); ++first) {
      for (int64_t count = 0; first + count <= dims.numel(); ++count) {
        std::vector<float> out(static_cast<size_t>(count));
        read_bytes(*source, static_cast<size_t>(first) * sizeof(float),
                   std::as_writable_bytes(std::span(out)));
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<float>(first + i + 1))
              << dims.to_string() << " from " << first;
        }
      }
    }
  }
}

// Values that lie in a file, as far as counts of transfers go.
class OnDisk final : public Storage::Source {
 public:
  explicit OnDisk(std::shared_ptr<const HostSource> values) : values_(std::move(values)) {}
  const TensorMeta& meta() const override { return values_->meta(); }
  void read(const Box& box, DenseTensor* out) const override { values_->read(box, out); }
  std::optional<Tier> tier() const override { return Tier::kDisk; }

 private:
  std::shared_ptr<const HostSource> values_;
};

TEST(ReadBytes, CountsWhatComesFromDisk) {
  const OnDisk source(counted({3, 5}));
  std::vector<std::byte> out(24);
  reset_transfer_stats();
  read_bytes(source, 8, out);
  const TransferStats stats = transfer_stats();
  EXPECT_EQ(stats.of(Tier::kDisk, Tier::kHost).bytes, 24);
  EXPECT_EQ(stats.of(Tier::kDisk, Tier::kHost).count, 1);
  EXPECT_EQ(stats.of(Tier::kHost, Tier::kDisk).count, 0);
  read_bytes(*counted({3, 5}), 8, out);  // lies on the host already
  EXPECT_EQ(transfer_stats().of(Tier::kDisk, Tier::kHost).count, 1);
}

TEST(ReadBytes, OfOtherThanElementsIsAnError) {
  const auto source = counted({7});
  std::vector<std::byte> out(4);
  for (const size_t offset : {size_t{2}, size_t{28}}) {
    EXPECT_THAT([&] { read_bytes(*source, offset, out); },
                ThrowsError(ErrorCode::kInvalidArgument, "are not elements of f32[7]"));
  }
}

TEST(HostBytes, OfAWaitingArrayComeWithoutTheDevice) {
  const auto source = counted({1000});
  const DenseTensor waiting(source->meta(), Storage::from_source(CPUPlace(), source));
  const int64_t held = memory_stats(CPUPlace()).current;
  const HostBytes bytes(waiting);
  EXPECT_EQ(memory_stats(CPUPlace()).current, held);
  EXPECT_EQ(std::memcmp(bytes.get().data(), source->data(), 4000), 0);
}

TEST(Storage, WhatHasNoBytesOfItsOwnIsNotSwappedOut) {
  const auto source = counted({2});
  const auto placeholder = Storage::placeholder(CPUPlace(), {});
  EXPECT_THAT([&] { placeholder->swap_out(source); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "of 0 bytes cannot be swapped out"));
}

TEST(Storage, SwappedOutItHoldsNothingAndComesBack) {
  const auto source = counted({2000});
  DenseTensor array = DenseTensor::empty(source->meta(), CPUPlace());
  const int64_t held = memory_stats(CPUPlace()).current;
  const uint64_t id = array.storage()->id();
  array.storage()->swap_out(source);
  EXPECT_EQ(memory_stats(CPUPlace()).current, held - 8000);
  EXPECT_FALSE(array.initialized());
  EXPECT_EQ(array.data<float>()[1999], 2000.0f);
  EXPECT_EQ(memory_stats(CPUPlace()).current, held);
  EXPECT_EQ(array.storage()->id(), id);
}

TEST(Storage, BorrowedBytesAreNeitherChargedNorFreed) {
  std::vector<float> bytes(100, 3.0f);
  const int64_t held = memory_stats(CPUPlace()).current;
  {
    const auto storage =
        Storage::borrow(reinterpret_cast<std::byte*>(bytes.data()), 400, CPUPlace());
    const DenseTensor array({{100}, DataType::FLOAT32}, storage);
    EXPECT_EQ(array.data<float>(), bytes.data());
    EXPECT_EQ(memory_stats(CPUPlace()).current, held);
  }
  EXPECT_EQ(bytes[99], 3.0f);
}

TEST(Storage, WhoHasTheBytesIsKeptAsLongAsAnyViewOfThem) {
  auto owner = std::make_shared<std::vector<float>>(100, 3.0f);
  const std::weak_ptr<std::vector<float>> ended = owner;
  auto* bytes = reinterpret_cast<std::byte*>(owner->data());
  const int64_t held = memory_stats(CPUPlace()).current;
  DenseTensor rows;
  {
    const DenseTensor array({{10, 10}, DataType::FLOAT32},
                            storage_from_blob(bytes, 400, CPUPlace(), std::move(owner)));
    rows = array.rows(9, 10);
  }
  EXPECT_EQ(memory_stats(CPUPlace()).current, held);
  ASSERT_FALSE(ended.expired());
  EXPECT_EQ(rows.data<float>()[9], 3.0f);
  std::thread([last = std::exchange(rows, DenseTensor())] {}).join();
  EXPECT_TRUE(ended.expired());
}

// The owner's end may end another storage of that kind.
TEST(Storage, AnOwnerMayHaveBorrowedStoragesOfItsOwn) {
  float value = 1;
  auto* bytes = reinterpret_cast<std::byte*>(&value);
  const auto last = std::make_shared<int>(0);
  const std::weak_ptr<int> ended = last;
  const auto inner = std::make_shared<IntrusivePtr<Storage>>(
      storage_from_blob(bytes, 4, CPUPlace(), std::shared_ptr<int>(last)));
  {
    const auto outer = storage_from_blob(bytes, 4, CPUPlace(), inner);
    EXPECT_EQ(outer->data(), bytes);
  }
  EXPECT_EQ(last.use_count(), 2);
  *inner = nullptr;
  EXPECT_EQ(last.use_count(), 1);
}

}  // namespace
}  // namespace phi
