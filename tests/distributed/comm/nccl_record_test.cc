// Calls between GPUs, the twin's, that a device writes down with what it launches (World::record).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_world.h"
#include "phi/core/device/host_array.h"
#include "phi/core/device/launch_record.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;

class NcclRecord : public ::testing::Test {
 protected:
  ~NcclRecord() override { cuda_on_cpu::reset(); }
};

void join(World& host) {
  const Place gpu = GPUPlace(static_cast<int>(host.rank()));
  host.rank_context().set_place(gpu);
  host.set_carrier(join_by_nccl(host, gpu, GpuReduction::kExact));
}

void on_gpus(int64_t n, const std::function<void(World& host, World& gpus)>& body) {
  run_ranks(n, [&](World& host) {
    join(host);
    body(host, host.carrier(host.rank_context().place()));
  });
}

// One float on the world's GPU.
class Number {
 public:
  Number(World& world, float value) : device_(world.device()), memory_(device_, sizeof(float)) {
    device_.copy_from_host(memory_.data(), &value, sizeof(float));
  }
  float value() const {
    float found = 0;
    device_.copy_to_host(&found, memory_.data(), sizeof(float));
    return found;
  }
  std::byte* data() const { return memory_.data(); }

 private:
  Device& device_;
  DeviceMemory memory_;
};

// Sums, gathers by a communicator of the group, and messages of which nobody waits.
TEST_F(NcclRecord, EachLaunchIsAllCallsAgain) {
  using cuda_on_cpu::Order;
  for (const Order order : {Order::kForward, Order::kBackward, Order::kDrawn}) {
    cuda_on_cpu::set_order(order, 5);
    on_gpus(3, [](World&, World& gpus) {
      Group& all = gpus.everyone();
      const Number x(gpus, 1.0f);
      const Number from_left(gpus, 0.0f);
      const DeviceMemory gathered(gpus.device(), 3 * sizeof(float));
      const auto body = [&] {
        all.all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
        all.all_gather(x.data(), gathered.data(), 1, DataType::FLOAT32);
        const Send send{(gpus.rank() + 1) % 3, x.data(), sizeof(float)};
        const Recv recv{(gpus.rank() + 2) % 3, from_left.data(), sizeof(float)};
        all.start_exchange({&send, 1}, {&recv, 1}, nullptr);
      };
      body();  // communicators are made
      EXPECT_EQ(x.value(), 3.0f);
      const auto record = gpus.record(all, body);
      EXPECT_EQ(x.value(), 3.0f);  // nothing has run
      for (int i = 0; i < 2; ++i) record->launch();
      EXPECT_EQ(x.value(), 27.0f);
      EXPECT_EQ(from_left.value(), 27.0f);
      body();  // calls come behind what was launched
      record->launch();
      EXPECT_EQ(x.value(), 243.0f);
      float all_of_them[3];
      gpus.device().copy_to_host(all_of_them, gathered.data(), sizeof(all_of_them));
      EXPECT_THAT(all_of_them, ::testing::Each(243.0f));
      all.barrier();
    });
  }
}

TEST_F(NcclRecord, WhatWaitsIsRefused) {
  on_gpus(2, [](World&, World& gpus) {
    const Number x(gpus, 1.0f);
    EXPECT_THAT([&] { gpus.record(gpus.everyone(), [&] { x.value(); }); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "cannot be written down together with messages: it waits for the GPU"));
    gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    EXPECT_EQ(x.value(), 2.0f);
  });
}

TEST_F(NcclRecord, ARecordOutlivesItsWorldAndServesNoMore) {
  on_gpus(2, [](World& host, World& gpus) {
    const Number x(gpus, 1.0f);
    const auto body = [&] {
      gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    };
    body();
    const auto record = gpus.record(gpus.everyone(), body);
    record->launch();
    EXPECT_EQ(x.value(), 4.0f);
    host.everyone().barrier();
    host.set_carrier(nullptr);
    EXPECT_THAT([&] { record->launch(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "no longer connected"));
  });
}

TEST_F(NcclRecord, WorldsOfTheHostWriteNothingDown) {
  run_ranks(2, [](World& host) {
    EXPECT_FALSE(host.records_calls());
    EXPECT_THAT([&] { host.record(host.everyone(), [] {}); },
                ThrowsError(ErrorCode::kUnimplemented,
                            "the calls of world 'local' cannot be written down by a device"));
  });
}

}  // namespace
}  // namespace phi::distributed
