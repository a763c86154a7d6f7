// The table of what moves arrays between devices, in a build without NCCL: what its errors say, and
// how to go on.
#include "distributed/comm/device_backends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

TEST(DeviceBackends, EveryRowIsFoundByItsDevice) {
  ASSERT_FALSE(device_backends().empty());
  for (const DeviceBackend& row : device_backends()) {
    const Place place{row.device, 0};
    EXPECT_THAT([&] { make_device_communicator(World::current(), place, GpuReduction::kExact); },
                ThrowsError(ErrorCode::kUnavailable, "this build has no NCCL"));
  }
}

TEST(DeviceBackends, ADeviceWithoutARowIsRefused) {
  EXPECT_THAT(
      [] { make_device_communicator(World::current(), CustomPlace(), GpuReduction::kExact); },
      ThrowsError(ErrorCode::kUnavailable,
                  "moves arrays between ranks' devices of place custom:0"));
}

TEST(DeviceBackends, NcclSaysHowToGetIt) {
  for (const char* words : {"tools/setup --cuda installs it", "messages: host of a job"}) {
    EXPECT_THAT(
        [] { make_device_communicator(World::current(), GPUPlace(0), GpuReduction::kExact); },
        ThrowsError(ErrorCode::kUnavailable, words));
  }
}

}  // namespace
}  // namespace phi::distributed
