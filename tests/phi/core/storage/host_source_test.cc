// Host arrays as sources: whose bytes they are, how long they count, and what a box of one is.
#include "phi/core/storage/host_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "phi/core/rank_context.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::ElementsAre;

std::vector<float> counting(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

int64_t on_host() { return memory_stats(Tier::kHost).current; }

TEST(HostSource, GivesAnyBox) {
  const auto source = HostSource::keep(counting(12), {3, 4});
  DenseTensor out = DenseTensor::empty({{2, 2}, DataType::FLOAT32}, CPUPlace());
  source->read({{1, 2}, {2, 2}}, &out);
  EXPECT_THAT(out.values<float>(), ElementsAre(6, 7, 10, 11));
  DenseTensor none = DenseTensor::empty({{0, 4}, DataType::FLOAT32}, CPUPlace());
  source->read({{3, 0}, {0, 4}}, &none);
  EXPECT_EQ(source->tier(), Tier::kHost);
  EXPECT_EQ(source->stored_bytes({{1, 2}, {2, 2}}), 16);
}

TEST(HostSource, KeepsAVectorWithoutCopyingIt) {
  std::vector<float> values = counting(12);
  const float* bytes = values.data();
  EXPECT_EQ(HostSource::keep(std::move(values), {12})->data(), bytes);
  EXPECT_THAT([] { HostSource::keep(counting(2), {3}); },
              ThrowsError(ErrorCode::kInvalidArgument, "2 values are passed for a tensor [3]"));
}

TEST(HostSource, NeedsAShapeThatIsKnown) {
  EXPECT_THAT(
      [] {
        HostSource({{2, -1}, DataType::FLOAT32}, nullptr);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "extents of 0 or more, got [2,?]"));
}

TEST(HostSource, ACopyIsItsOwn) {
  std::vector<float> values = counting(3);
  const auto source = HostSource::copy({{3}, DataType::FLOAT32}, values.data());
  values[1] = 100;
  EXPECT_EQ(static_cast<const float*>(source->data())[1], 1);
}

TEST(HostSource, CountsAsHostMemoryUntilTheArrayIsOnTheDevice) {
  RankContext context;
  const RankContext::Scope scope(context);
  const auto storage = Storage::from_source(CPUPlace(), HostSource::keep(counting(10), {10}));
  EXPECT_EQ(on_host(), 40);
  EXPECT_EQ(memory_stats(CPUPlace()).current, 0);
  storage->materialise();
  EXPECT_EQ(on_host(), 0);
  EXPECT_EQ(memory_stats(CPUPlace()).current, 40);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), (TransferCount{1, 40}));
}

TEST(HostSource, OneThatIsNeverUsedNeverCrosses) {
  RankContext context;
  const RankContext::Scope scope(context);
  Storage::from_source(CPUPlace(), HostSource::keep(counting(10), {10}));
  EXPECT_EQ(on_host(), 0);
  EXPECT_EQ(memory_stats(Tier::kHost).peak, 40);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), TransferCount{});
}

TEST(HostSource, EmptyAndScalarArraysAreArrays) {
  RankContext context;
  const RankContext::Scope scope(context);
  const DenseTensor none({{0, 3}, DataType::FLOAT32},
                         Storage::from_source(CPUPlace(), HostSource::keep(counting(0), {0, 3})));
  EXPECT_THAT(none.values<float>(), ElementsAre());
  EXPECT_TRUE(none.initialized());
  const DenseTensor one(
      {{}, DataType::INT64},
      Storage::from_source(CPUPlace(), HostSource::keep(std::vector<int64_t>{7}, {})));
  EXPECT_EQ(one.data<int64_t>()[0], 7);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), (TransferCount{1, 8}));
}

}  // namespace
}  // namespace phi
