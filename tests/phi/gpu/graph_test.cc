// Launches of a GPU that are written down as a graph, run by the emulator: done when they are
// launched and not before, with scratch of their own, and given up where the host would have to
// wait.
#include "phi/gpu/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/copy_queues.h"
#include "phi/core/rank_context.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/launch.h"
#include "tests/support/cuda_on_cpu/cuda_on_cpu.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using gpu::GpuDevice;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kCount = 1000;
const Place kPlace = GPUPlace(0);

__global__ void add_kernel(float* to, const float* x, const float* y, int64_t n) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) to[i] = x[i] + y[i];
}

DenseTensor array() { return DenseTensor::empty({{kCount}, DataType::FLOAT32}, kPlace); }

void add(const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  GpuDevice& device = GpuDevice::of(kPlace);
  const Device::Work work(device);
  gpu::launch(device, add_kernel, gpu::blocks_for(device, kCount), gpu::kBlock,
              out->mutable_data<float>(), x.data<float>(), y.data<float>(), kCount);
}

void set(DenseTensor* x, float value) {
  const std::vector<float> values(kCount, value);
  GpuDevice::of(kPlace).copy_from_host(static_cast<std::byte*>(x->mutable_raw_data()),
                                       values.data(), x->nbytes());
}

std::vector<float> values_of(const DenseTensor& x) {
  std::vector<float> values(kCount);
  GpuDevice::of(kPlace).copy_to_host(values.data(), static_cast<const std::byte*>(x.raw_data()),
                                     x.nbytes());
  return values;
}

/// y = 4 x, through two arrays of scratch that are there while it runs.
void four_times(const DenseTensor& x, DenseTensor* y) {
  for (int twice = 0; twice < 2; ++twice) {
    DenseTensor scratch = array();
    add(twice == 0 ? x : *y, twice == 0 ? x : *y, &scratch);
    GpuDevice::of(kPlace).copy(static_cast<std::byte*>(y->mutable_raw_data()),
                               static_cast<const std::byte*>(scratch.raw_data()), y->nbytes());
  }
}

class GraphsOnEmulator : public ::testing::Test {
 protected:
  ~GraphsOnEmulator() override { cuda_on_cpu::reset(); }
  GpuDevice& device_ = GpuDevice::of(kPlace);
};

TEST_F(GraphsOnEmulator, ScratchStaysTheirsForEachLaunch) {
  using cuda_on_cpu::Order;
  for (const auto order : {Order::kForward, Order::kBackward, Order::kDrawn}) {
    cuda_on_cpu::set_order(order, 5);
    DenseTensor x = array();
    DenseTensor y = array();
    set(&x, 1);
    set(&y, 0);
    const auto record = device_.capture([&] { four_times(x, &y); });
    ASSERT_NE(record, nullptr);
    EXPECT_THAT(values_of(y), Each(0)) << "nothing is done yet";
    for (const float value : {1.0f, 2.0f, 3.0f}) {
      set(&x, value);
      record->launch();
      // What others take meanwhile is not what it uses.
      DenseTensor other = array();
      set(&other, -1);
      record->launch();
      EXPECT_THAT(values_of(y), Each(4 * value));
      EXPECT_THAT(values_of(other), Each(-1));
    }
  }
}

TEST_F(GraphsOnEmulator, MemoryIsCountedAndGoesBackBehindTheLastLaunch) {
  DenseTensor x = array();
  DenseTensor y = array();
  set(&x, 2);
  const int64_t before = memory_stats(kPlace).current;
  auto record = device_.capture([&] { four_times(x, &y); });
  EXPECT_EQ(memory_stats(kPlace).current, before + 4 * kCount) << "two arrays, one after the other";
  record->launch();
  record = nullptr;
  DenseTensor other = array();  // may be of the same bytes
  set(&other, -1);
  EXPECT_EQ(memory_stats(kPlace).current, before + 4 * kCount);
  EXPECT_THAT(values_of(y), Each(8));
}

TEST_F(GraphsOnEmulator, WhoWaitsIsLeftAndNothingHappens) {
  DenseTensor x = array();
  DenseTensor y = array();
  set(&x, 1);
  set(&y, 7);
  int reached = 0;
  const auto attempt = [&](const std::function<void()>& wait) {
    return device_.capture([&] {
      add(x, x, &y);
      ++reached;
      wait();
      ADD_FAILURE() << "the body goes on";
    });
  };
  EXPECT_EQ(attempt([&] { device_.wait(); }), nullptr);
  EXPECT_EQ(attempt([&] { values_of(x); }), nullptr);
  EXPECT_EQ(attempt([&] { set(&x, 3); }), nullptr);
  EXPECT_EQ(reached, 3);
  EXPECT_THAT(values_of(y), Each(7));
  add(x, x, &y);
  EXPECT_THAT(values_of(y), Each(2)) << "and the device computes as before";
}

TEST_F(GraphsOnEmulator, MemoryThatCrossesTheEndsIsNotCaptured) {
  DenseTensor x = array();
  set(&x, 1);
  DenseTensor kept;
  EXPECT_EQ(device_.capture([&] {
    kept = array();
    add(x, x, &kept);
  }),
            nullptr);
  set(&kept, 5);
  EXPECT_THAT(values_of(kept), Each(5));
  EXPECT_EQ(device_.capture([&] { kept = DenseTensor(); }), nullptr);
  EXPECT_EQ(memory_stats(kPlace).current, 4 * kCount);
}

TEST_F(GraphsOnEmulator, AnErrorOfTheBodyIsItsOwn) {
  DenseTensor x = array();
  set(&x, 1);
  EXPECT_THAT(
      [&] {
        device_.capture([&] {
          add(x, x, &x);
          throw errors::OutOfRange("beyond");
        });
      },
      ThrowsError(ErrorCode::kOutOfRange, "beyond"));
  EXPECT_THAT(values_of(x), Each(1));
}

TEST_F(GraphsOnEmulator, WhatCudaCannotCaptureIsToldOnce) {
  const auto record = [&] {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(device_.capture([&] { (void)cudaStreamSynchronize(device_.compute()); }), nullptr);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(record(), HasSubstr("CUDA graphs cannot capture all work of captured programs"));
  EXPECT_THAT(record(), Not(HasSubstr("captured programs")));
}

// Whatever uses the compute stream. What another thread queues must not get into the graph, so the
// array that it writes stays as it is at each launch.
TEST_F(GraphsOnEmulator, OtherThreadsAreRefusedMeanwhile) {
  DenseTensor x = array();
  set(&x, 1);
  DenseTensor y = array();
  set(&y, 7);
  auto* const to = static_cast<std::byte*>(y.mutable_raw_data());
  const auto* const from = static_cast<const std::byte*>(x.raw_data());
  const Box box = Box::whole({kCount});
  const Box half{{0}, {kCount / 2}};
  CopyQueues& side = *device_.copy_queues();
  const QueueEventPtr moment = side.end_of(CopyQueues::kToDevice);
  const auto other_record = device_.capture([&] { add(x, x, &y); });
  const auto expect_refused = [&](const std::function<void()>& use) {
    EXPECT_THAT(use, ThrowsError(ErrorCode::kUnavailable,
                                 "two threads use gpu:0 while one of them captures a CUDA graph, "
                                 "which would contain the work of both"));
  };
  const auto record = device_.capture([&] {
    add(x, x, &x);
    std::thread other([&] {
      expect_refused([] { array(); });
      expect_refused([&] { device_.wait(); });
      expect_refused([&] { device_.capture([] {}); });
      expect_refused([&] { add(x, x, &y); });
      expect_refused([&] { device_.copy(to, from, y.nbytes()); });
      expect_refused([&] { device_.fill(to, std::byte{0}, y.nbytes()); });
      expect_refused([&] {
        const BoxCopy copies[] = {{from, box, to, box, box}, {from, box, to, box, half}};
        device_.copy_boxes(copies, sizeof(float));
      });
      expect_refused([&] { set(&y, 3); });
      expect_refused([&] { values_of(y); });
      expect_refused([&] { side.launched(); });
      expect_refused([&] { side.launch_after(*moment); });
      expect_refused([&] { other_record->launch(); });
    });
    other.join();
  });
  ASSERT_NE(record, nullptr);
  record->launch();
  EXPECT_THAT(values_of(x), Each(2));
  EXPECT_THAT(values_of(y), Each(7)) << "the other thread's work is not in the graph";
}

// Tensors may end on any thread. Their memory is free when the recording is over.
TEST_F(GraphsOnEmulator, OtherThreadsFreeMeanwhile) {
  DenseTensor x = array();
  set(&x, 1);
  std::optional<DenseTensor> y = array();
  set(&*y, 5);
  std::unique_ptr<LaunchGraph> of_others = device_.capture([&] { four_times(x, &*y); });
  ASSERT_NE(of_others, nullptr);
  const int64_t before = memory_stats(kPlace).current;
  const auto record = device_.capture([&] {
    DenseTensor scratch = array();
    add(x, x, &scratch);
    add(scratch, x, &x);
    std::thread([&, moved = std::move(scratch)]() mutable {
      moved = DenseTensor();
      y.reset();
      of_others.reset();
    }).join();
  });
  ASSERT_NE(record, nullptr) << "its own scratch alone is of the record";
  EXPECT_EQ(memory_stats(kPlace).current, before - 4 * kCount);
  for (const float value : {3.0f, 9.0f}) {
    record->launch();
    DenseTensor other = array();  // may be of the bytes that were given back
    set(&other, -1);
    EXPECT_THAT(values_of(x), Each(value));
    EXPECT_THAT(values_of(other), Each(-1));
  }
}

// One thread records all the time, another computes: each piece of its work is refused, or done
// once and in no graph.
TEST_F(GraphsOnEmulator, RecordingAndComputingDoNotMeet) {
  DenseTensor x = array();
  DenseTensor y = array();
  DenseTensor ones = array();
  for (DenseTensor* tensor : {&x, &y}) set(tensor, 0);
  set(&ones, 1);
  constexpr int kRecordings = 200;
  std::atomic<bool> is_over{false};
  int done = 0;
  std::thread other([&] {
    while (!is_over) {
      try {
        add(y, ones, &y);
        ++done;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
      }
      std::this_thread::yield();
    }
  });
  std::vector<std::unique_ptr<LaunchGraph>> records;
  for (int i = 0; i < kRecordings; ++i) {
    records.push_back(device_.capture([&] {
      add(x, ones, &x);
      std::this_thread::yield();
    }));
  }
  is_over = true;
  other.join();
  for (const auto& record : records) {
    ASSERT_NE(record, nullptr);
    record->launch();
  }
  EXPECT_THAT(values_of(x), Each(kRecordings));
  EXPECT_THAT(values_of(y), Each(done));
}

TEST_F(GraphsOnEmulator, AKernelThatFailsIsToldWithTheGraph) {
  GpuDevice& device = GpuDevice::of(GPUPlace(2));
  DenseTensor x = DenseTensor::empty({{kCount}, DataType::FLOAT32}, GPUPlace(2));
  float* const data = x.mutable_data<float>();
  const auto record = device.capture(
      [&] { gpu::launch(device, add_kernel, 1, gpu::kBlock, data, data, data, kCount); });
  cuda_on_cpu::fail_next_launch(cudaErrorIllegalAddress);
  {
    const OpScope op("steps of a captured program");
    record->launch();
  }
  EXPECT_THAT([&] { device.wait(); },
              ThrowsError(ErrorCode::kUnavailable, "steps of a captured program (the last of 2)"));
}

}  // namespace
}  // namespace phi::testing
