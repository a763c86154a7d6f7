// The device layer: where storages get their bytes, how bytes cross, what the host is refused.
#include "phi/core/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "phi/common/errors.h"
#include "phi/core/copy_step.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/host_source.h"
#include "tests/support/error_matchers.h"
#include "tests/support/guarded_device.h"

namespace phi::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

const TensorMeta kFour{{4}, DataType::FLOAT32};

// A rank whose tensors lie on guarded device 0.
class OnGuardedDevice : public ::testing::Test {
 protected:
  OnGuardedDevice() : scope_(rank_) { rank_.set_place(guarded_device(0)); }

  static std::vector<float> values(const DenseTensor& x) {
    const HostArray host(x, HostArray::kRead);
    const auto all = host.array().values<float>();
    return {all.begin(), all.end()};
  }
  static DenseTensor array(const std::vector<float>& values) {
    return DenseTensor::from<float>(values, {static_cast<int64_t>(values.size())});
  }

  RankContext rank_;
  RankContext::Scope scope_;
};

TEST(Device, OfThePlaceAlone) {
  EXPECT_TRUE(Device::of(CPUPlace()).is_host());
  EXPECT_EQ(Device::of(guarded_device(3)).place(), CustomPlace(3));
  EXPECT_EQ(&Device::of(guarded_device(3)), &guarded_device_at(3));
  EXPECT_THAT([] { Device::of(GPUPlace(7)); },
              ThrowsError(ErrorCode::kUnimplemented, "no device for place gpu:7"));
  EXPECT_THAT([] { Device::of(Place()); }, ThrowsError(ErrorCode::kUnimplemented, "undefined"));
  guarded_device(0);
  EXPECT_THAT([] { Device::add(std::make_unique<GuardedDevice>(CustomPlace(0))); },
              ThrowsError(ErrorCode::kAlreadyExists, "custom:0"));
  EXPECT_THAT([] { Device::add(std::make_unique<GuardedDevice>(CPUPlace())); },
              ThrowsError(ErrorCode::kAlreadyExists, "cpu"));
}

TEST_F(OnGuardedDevice, ArraysLieThereAndComeBack) {
  const DenseTensor x = array({1, 2, 3, 4});
  EXPECT_EQ(x.place(), guarded_device(0));
  EXPECT_THAT(values(x), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(x.clone()), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(x.rows(1, 3)), ElementsAre(2, 3));
  EXPECT_EQ(array({}).place(), guarded_device(0));
  EXPECT_THAT(values(array({})), ElementsAre());
}

TEST_F(OnGuardedDevice, TheHostIsRefusedInWords) {
  EXPECT_THAT([] { array({1}).values<float>(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "to_vector<T>()"));
}

TEST_F(OnGuardedDevice, TheHostCannotTouchItsMemory) {
  const DenseTensor x = array({1});
  volatile float sink = 0;
  EXPECT_DEATH(sink = *x.data<float>(), "");
  DenseTensor y = array({1});
  EXPECT_DEATH(*y.mutable_data<float>() = sink, "");
  // Not even while another rank's device works.
  const Device::Work work(Device::of(guarded_device(1)));
  EXPECT_DEATH(sink = *x.data<float>(), "");
}

TEST_F(OnGuardedDevice, WorkOpensIt) {
  DenseTensor x = array({1, 2});
  Device& device = Device::of(x.place());
  {
    const Device::Work outer(device);
    { const Device::Work inner(device); }
    x.mutable_data<float>()[1] = 5;
    // What is allocated meanwhile is open, too, and holds no numbers.
    const DenseTensor fresh = DenseTensor::empty(kFour, x.place());
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(fresh.data<float>()[i]));
  }
  EXPECT_THAT(values(x), ElementsAre(1, 5));
  device.fill(static_cast<std::byte*>(x.mutable_raw_data()), std::byte{0}, x.nbytes());
  EXPECT_THAT(values(x), Each(0));
}

TEST_F(OnGuardedDevice, HostArraysGoBackWhenTheyAreFinished) {
  const DenseTensor x = array({1, 2});
  {
    HostArray update(x, HostArray::kUpdate);
    auto* data = reinterpret_cast<float*>(update.data());
    data[0] += 10;
    EXPECT_THAT(values(x), ElementsAre(1, 2));
    update.finish();
  }
  EXPECT_THAT(values(x), ElementsAre(11, 2));
  HostArray read(x, HostArray::kRead);
  *reinterpret_cast<float*>(read.data()) = 7;
  read.finish();
  EXPECT_THAT(values(x), ElementsAre(11, 2));
  HostArray write(x, HostArray::kWrite);
  std::iota(reinterpret_cast<float*>(write.data()), reinterpret_cast<float*>(write.data()) + 2, 0);
  write.finish();
  EXPECT_THAT(values(x), ElementsAre(0, 1));
}

TEST(HostArray, IsTheArrayItselfOnTheCpu) {
  const DenseTensor x = DenseTensor::from<float>(std::vector<float>{1}, {1});
  const HostArray host(x, HostArray::kUpdate);
  EXPECT_EQ(host.data(), x.raw_data());
  EXPECT_EQ(host.array().storage(), x.storage());
  EXPECT_EQ(HostArray().data(), nullptr);
}

TEST_F(OnGuardedDevice, BytesCrossBetweenAllPlaces) {
  const std::vector<float> numbers = {1, 2, 3, 4};
  const Place places[] = {CPUPlace(), guarded_device(0), guarded_device(1)};
  for (const Place& from : places) {
    for (const Place& to : places) {
      rank_.set_place(from);
      const DenseTensor x = array(numbers);
      DenseTensor y = DenseTensor::empty(kFour, to);
      CopyStep(x, y).run();
      EXPECT_THAT(values(y), ElementsAreArray(numbers))
          << from.to_string() << " to " << to.to_string();
    }
  }
}

TEST_F(OnGuardedDevice, BoxesAreCopiedThere) {
  const DenseTensor x = array({1, 2, 3, 4, 5, 6}).view({2, 3});
  DenseTensor column = DenseTensor::empty({{2, 1}, DataType::FLOAT32}, x.place());
  const Box box{{0, 1}, {2, 1}};
  copy_box(x, Box::whole(x.dims()), column, box, box);
  EXPECT_THAT(values(column), ElementsAre(2, 5));
}

TEST_F(OnGuardedDevice, DeferredArraysComeToIt) {
  const std::vector<float> numbers = {1, 2, 3, 4};
  const DenseTensor x(kFour,
                      Storage::from_source(rank_.place(), HostSource::copy(kFour, numbers.data())));
  EXPECT_EQ(memory_stats(rank_.place()).current, 0);
  EXPECT_THAT(values(x), ElementsAreArray(numbers));
  EXPECT_EQ(memory_stats(rank_.place()).current, 16);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice).bytes, 16);
}

TEST_F(OnGuardedDevice, BytesAreCountedByKindAndGivenBack) {
  const size_t before = guarded_device_at(0).held();
  {
    const DenseTensor x = array({1, 2, 3, 4});
    EXPECT_EQ(memory_stats(rank_.place()).current, 16);
    EXPECT_EQ(memory_stats(CPUPlace()).current, 0);
    EXPECT_EQ(memory_stats(Tier::kDevice).current, 16);
    EXPECT_EQ(guarded_device_at(0).held(), before + 64);
    const HostArray copy(x, HostArray::kRead);
    EXPECT_EQ(memory_stats(CPUPlace()).current, 16);
  }
  EXPECT_EQ(memory_stats(rank_.place()).current, 0);
  EXPECT_EQ(memory_stats(rank_.place()).peak, 16);
  EXPECT_EQ(guarded_device_at(0).held(), before);
}

TEST_F(OnGuardedDevice, TheLimitIsThatOfTheRanksKind) {
  rank_.memory()->set_device_limit(32);
  const DenseTensor x = array({1, 2, 3, 4});
  EXPECT_THAT(
      [] {
        array({1, 2, 3, 4, 5});
      },
      ThrowsError(ErrorCode::kResourceExhausted, "limited to 32 bytes"));
  EXPECT_NO_THROW(DenseTensor::empty({{1024}, DataType::FLOAT32}, CPUPlace()));
}

TEST_F(OnGuardedDevice, WhatDoesNotFitIsTold) {
  EXPECT_THAT(
      [] {
        DenseTensor::empty({{int64_t{1} << 30}, DataType::FLOAT32}, guarded_device(0));
      },
      ThrowsError(ErrorCode::kResourceExhausted, "on custom:0"));
  EXPECT_EQ(memory_stats(rank_.place()).current, 0);
}

}  // namespace
}  // namespace phi::testing
