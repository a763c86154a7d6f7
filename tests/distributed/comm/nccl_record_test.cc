// Calls between GPUs, the emulator's, that a device writes down with what it launches
// (Communicator::record).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/captured_graphs.h"
#include "distributed/comm/nccl/nccl_comms.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/nccl/watchdog.h"
#include "phi/core/device/host_array.h"
#include "phi/core/device/launch_graph.h"
#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/cuda_on_cpu/nccl_on_cpu.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using std::chrono::milliseconds;

class NcclRecord : public ::testing::Test {
 protected:
  ~NcclRecord() override { cuda_on_cpu::reset(); }
};

void join(World& host) {
  const Place gpu = GPUPlace(static_cast<int>(host.rank()));
  host.rank_context().set_place(gpu);
  host.set_device_communicator(make_nccl_communicator(host, gpu, GpuReduction::kExact));
}

void on_gpus(int64_t n, const std::function<void(World& host, Communicator& gpus)>& body,
             milliseconds deadline = World::kDefaultDeadline) {
  run_ranks(
      n,
      [&](World& host) {
        join(host);
        body(host, host.communicator(host.rank_context().place()));
      },
      deadline);
}

// One float on the world's GPU.
class Number {
 public:
  Number(Communicator& gpus, float value)
      : device_(gpus.device()), memory_(device_, sizeof(float)) {
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
    on_gpus(3, [](World&, Communicator& gpus) {
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
  on_gpus(2, [](World&, Communicator& gpus) {
    const Number x(gpus, 1.0f);
    EXPECT_THAT([&] { gpus.record(gpus.everyone(), [&] { x.value(); }); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "cannot be captured together with messages: it waits for the GPU"));
    gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    EXPECT_EQ(x.value(), 2.0f);
  });
}

// The messages' stream has been captured and not joined: there is no graph, either.
TEST_F(NcclRecord, AnErrorOfTheBodyIsItsOwn) {
  on_gpus(2, [](World&, Communicator& gpus) {
    const Number x(gpus, 1.0f);
    const auto sum = [&] {
      gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    };
    EXPECT_THAT(
        [&] {
          gpus.record(gpus.everyone(), [&] {
            sum();
            throw errors::OutOfRange("beyond");
          });
        },
        ThrowsError(ErrorCode::kOutOfRange, "beyond"));
    sum();
    EXPECT_EQ(x.value(), 2.0f);
  });
}

TEST_F(NcclRecord, WhatCannotBeCapturedIsNamed) {
  on_gpus(1, [](World&, Communicator& gpus) {
    const auto wait = [] {
      const auto& device = gpu::GpuDevice::of(GPUPlace(0));
      device.check(cudaStreamSynchronize(device.compute()), "waiting");
    };
    EXPECT_THAT([&] { gpus.record(gpus.everyone(), wait); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "cannot be captured together with messages: CUDA error 900"));
  });
}

// What it computes takes twice the deadline.
TEST_F(NcclRecord, ALaunchMayComputeForLongerThanTheDeadline) {
  const auto body = [](World&, Communicator& gpus) {
    const cudaStream_t compute = gpu::GpuDevice::of(gpus.rank_context().place()).compute();
    const Number x(gpus, 1.0f);
    const auto sum = [&] {
      gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    };
    sum();
    const auto record = gpus.record(gpus.everyone(), [&] {
      const auto rest = [](void*) { std::this_thread::sleep_for(milliseconds(100)); };
      for (int i = 0; i < 8; ++i) PHI_GPU(cudaLaunchHostFunc(compute, rest, nullptr));
      sum();
    });
    for (const float value : {4.0f, 8.0f}) {
      record->launch();
      EXPECT_EQ(x.value(), value);
    }
  };
  on_gpus(2, body, milliseconds(400));
}

TEST_F(NcclRecord, ALaunchThatDoesNotEndIsFound) {
  const auto body = [](World& host, Communicator& gpus) {
    const Number x(gpus, 1.0f);
    const auto sum = [&] {
      gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    };
    sum();
    const auto record = gpus.record(gpus.everyone(), sum);
    record->launch();
    EXPECT_EQ(x.value(), 4.0f);
    host.everyone().barrier();
    if (host.rank() == 0) cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0);
    host.everyone().barrier();
    record->launch();
    x.value();
    ADD_FAILURE() << "rank " << host.rank() << " goes on";
  };
  EXPECT_THAT([&] { on_gpus(2, body, milliseconds(400)); },
              ThrowsError(ErrorCode::kExecutionTimeout, "All ranks have entered it"));
}

// A launch that waits for what is on the GPU, as CUDA's do when its queue is full.
class LaunchBehindNccl final : public LaunchGraph {
 public:
  explicit LaunchBehindNccl(const std::function<bool()>& nccl_works) : nccl_works_(nccl_works) {
    is_under_way = false;
  }
  void launch() override {
    is_under_way = true;
    while (nccl_works_()) std::this_thread::sleep_for(milliseconds(1));
  }
  void discard() override {}

  static inline std::atomic<bool> is_under_way{false};

 private:
  std::function<bool()> nccl_works_;
};

TEST_F(NcclRecord, NcclIsAbortedWhileALaunchWaitsForIt) {
  run_ranks(1, [](World& host) {
    auto& device = gpu::GpuDevice::of(GPUPlace(0));
    device.make_current();
    InFlightCollectives in_flight;
    NcclComms comms(in_flight, host.rank());
    const ncclComm_t comm = comms.of(host.everyone(), [&]() -> Group& { return host.everyone(); });
    const auto works = [&] {
      try {
        return comms.settled(comm);
      } catch (const Error&) {
        return false;
      }
    };
    CapturedGraphs captured_graphs;
    const auto record = captured_graphs.add(std::make_unique<LaunchBehindNccl>(works),
                                            [](const std::function<void()>& launch) { launch(); });
    NcclWatchdog watchdog({.transport = host.transport(),
                           .device = device,
                           .comms = comms,
                           .in_flight = in_flight,
                           .captured_graphs = captured_graphs});
    std::thread launching([&] { record->launch(); });
    while (!LaunchBehindNccl::is_under_way) std::this_thread::yield();
    watchdog.abort(errors::Unavailable("it is over."));
    launching.join();
    device.set_failure(nullptr);
  });
}

TEST_F(NcclRecord, ARecordOutlivesItsWorldAndServesNoMore) {
  on_gpus(2, [](World& host, Communicator& gpus) {
    const Number x(gpus, 1.0f);
    const auto body = [&] {
      gpus.everyone().all_reduce(x.data(), 1, DataType::FLOAT32, ReduceKind::kSum);
    };
    body();
    const auto record = gpus.record(gpus.everyone(), body);
    record->launch();
    EXPECT_EQ(x.value(), 4.0f);
    host.everyone().barrier();
    host.set_device_communicator(nullptr);
    EXPECT_THAT([&] { record->launch(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "no longer connected"));
  });
}

TEST_F(NcclRecord, HostCommunicatorsCaptureNothing) {
  run_ranks(2, [](World& host) {
    EXPECT_FALSE(host.communicator().records_calls());
    EXPECT_THAT([&] { host.communicator().record(host.everyone(), [] {}); },
                ThrowsError(ErrorCode::kUnimplemented,
                            "the calls of backend 'local' cannot be captured by a device"));
  });
}

}  // namespace
}  // namespace phi::distributed
