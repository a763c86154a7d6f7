// The device layer of GPUs, run by the emulator: memory, copies, waits, and what is said where
// there is no GPU to be had.
#include "phi/gpu/gpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "phi/core/box_copy.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/unary.h"
#include "tests/support/cuda_on_cpu/cuda_on_cpu.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

DenseTensor on_gpu(const std::vector<float>& values, const Dims& dims) {
  DenseTensor x = DenseTensor::empty({dims, DataType::FLOAT32}, GPUPlace(0));
  gpu::GpuDevice::of(x.place()).copy_from_host(static_cast<std::byte*>(x.mutable_raw_data()),
                                               values.data(), x.nbytes());
  return x;
}

std::vector<float> values_of(const DenseTensor& x) {
  std::vector<float> values(static_cast<size_t>(x.numel()));
  gpu::GpuDevice::of(x.place()).copy_to_host(
      values.data(), static_cast<const std::byte*>(x.raw_data()), x.nbytes());
  return values;
}

std::vector<float> numbers(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

class OnEmulator : public ::testing::Test {
 protected:
  ~OnEmulator() override { cuda_on_cpu::reset(); }
};

TEST_F(OnEmulator, BytesGoThereAndBack) {
  const DenseTensor x = on_gpu(numbers(1000), {1000});
  EXPECT_EQ(values_of(x.clone()), numbers(1000));
  EXPECT_EQ(memory_stats(GPUPlace(0)).current, 4000);
  EXPECT_THAT([&] { x.values<float>(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "to_vector<T>()"));
}

TEST_F(OnEmulator, BoxesAreCopied) {
  const DenseTensor x = on_gpu(numbers(24), {2, 3, 4});
  DenseTensor y = on_gpu(std::vector<float>(8, 0.0f), {2, 2, 2});
  const Box part{{0, 1, 1}, {2, 2, 2}};
  copy_box(x, Box::whole(x.dims()), y, part, part);
  EXPECT_THAT(values_of(y), ElementsAre(6, 7, 10, 11, 18, 19, 22, 23));
}

// Of widths that differ by where the boxes lie, some empty.
TEST_F(OnEmulator, ManyBoxesAreCopiedByFewLaunches) {
  for (const size_t count : {size_t{1}, size_t{4}, size_t{5}, size_t{64}, size_t{150}}) {
    const Dims whole{7, 150, 13};
    const auto values = numbers(static_cast<size_t>(whole.numel()));
    const DenseTensor from = on_gpu(values, whole);
    const DenseTensor to = on_gpu(std::vector<float>(values.size(), 0.0f), whole);
    std::vector<float> expected(values.size());
    std::vector<BoxCopy> on_gpu_copies;
    std::vector<BoxCopy> here;
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<int64_t>(i);
      const Box part{{at % 3, at, at % 5}, {1 + at % 4, 1, at % 8}};
      const auto copy_between = [&](const void* read, const void* written) {
        return BoxCopy{static_cast<const std::byte*>(read), Box::whole(whole),
                       static_cast<std::byte*>(const_cast<void*>(written)), Box::whole(whole),
                       part};
      };
      on_gpu_copies.push_back(copy_between(from.raw_data(), to.raw_data()));
      here.push_back(copy_between(values.data(), expected.data()));
    }
    Device& device = Device::of(GPUPlace(0));
    device.wait();
    const uint64_t before = cuda_on_cpu::launches();
    device.copy_boxes(on_gpu_copies, sizeof(float));
    device.wait();
    EXPECT_EQ(cuda_on_cpu::launches() - before, count == 1 ? 0u : (count + 63) / 64);
    copy_boxes(here, sizeof(float));
    EXPECT_EQ(values_of(to), expected) << count;
  }
}

TEST_F(OnEmulator, KernelsAreQueuedBehindEachOther) {
  for (const auto order :
       {cuda_on_cpu::Order::kForward, cuda_on_cpu::Order::kBackward, cuda_on_cpu::Order::kDrawn}) {
    cuda_on_cpu::set_order(order, 3);
    const DenseTensor x = on_gpu(numbers(1001), {1001});
    DenseTensor y = DenseTensor::empty(x.meta(), GPUPlace(0));
    const KernelContext ctx(GPUPlace(0));
    for (int i = 0; i < 10; ++i) registered<kernels::add, float>(ctx, i == 0 ? x : y, x, &y);
    auto expected = numbers(1001);
    for (float& value : expected) value *= 11;
    EXPECT_EQ(values_of(y), expected);
  }
}

TEST_F(OnEmulator, InputsBroadcast) {
  const DenseTensor x = on_gpu(numbers(6), {2, 1, 3});
  const DenseTensor y = on_gpu(numbers(2), {2, 1});
  DenseTensor out = DenseTensor::empty({{2, 2, 3}, DataType::FLOAT32}, GPUPlace(0));
  registered<kernels::multiply, float>(KernelContext(GPUPlace(0)), x, y, &out);
  EXPECT_THAT(values_of(out), ElementsAre(1, 2, 3, 2, 4, 6, 4, 5, 6, 8, 10, 12));
}

TEST_F(OnEmulator, RefusedElementsAreToldWhereTheHostWaits) {
  const KernelContext ctx(GPUPlace(0));
  DenseTensor x = DenseTensor::empty({{3}, DataType::INT32}, GPUPlace(0));
  const std::vector<int32_t> divisors = {3, 0, 0};
  gpu::GpuDevice& device = gpu::GpuDevice::of(GPUPlace(0));
  device.copy_from_host(static_cast<std::byte*>(x.mutable_raw_data()), divisors.data(), 12);
  DenseTensor out = DenseTensor::empty(x.meta(), GPUPlace(0));
  {
    const OpScope op("remainder");
    registered<kernels::remainder, int32_t>(ctx, x, x, &out);
  }
  EXPECT_THAT([&] { device.wait(); }, ThrowsError(ErrorCode::kInvalidArgument,
                                                  "[remainder] y i32[3] has a 0, and integers"));
  device.wait();  // once
}

TEST_F(OnEmulator, MemoryThatIsNotThereIsTold) {
  cuda_on_cpu::set_memory_limit(size_t{1} << 20);
  EXPECT_THAT(
      [] {
        DenseTensor::empty({{1 << 20}, DataType::FLOAT32}, GPUPlace(1)).raw_data();
      },
      ThrowsError(ErrorCode::kResourceExhausted,
                  "cannot allocate 4194304 bytes on gpu:1; tensors of this rank occupy 0 "
                  "bytes. Of 1048576 bytes of the GPU "));
  EXPECT_THAT(gpu::GpuDevice::of(GPUPlace(1)).describe_memory(),
              ::testing::MatchesRegex("Of 1048576 bytes of the GPU [0-9]+ are free; this process "
                                      "uses [0-9]+, of which [0-9]+ are cached. Run the job on "
                                      "more ranks, use smaller micro-batches, or enable swapping "
                                      "\\(memory.device of a job\\)."));
}

TEST_F(OnEmulator, WhatThePoolReservesIsCounted) {
  constexpr int64_t kMiB = 1 << 20;
  const Place place = GPUPlace(0);
  RankContext rank;
  const RankContext::Scope scope(rank);
  rank.set_place(place);
  release_cached();  // of other tests
  reset_memory_peak(Tier::kDevice);
  EXPECT_EQ(memory_stats(place).reserved, 0);
  { const DenseTensor x = DenseTensor::empty({{3 * kMiB}, DataType::UINT8}, place); }
  const DenseTensor small = DenseTensor::empty({{100}, DataType::UINT8}, place);
  EXPECT_EQ(memory_stats(place).peak_reserved, 4 * kMiB);  // in units of 2 MiB
  release_cached();
  EXPECT_EQ(memory_stats(place).reserved, 2 * kMiB);
  EXPECT_EQ(memory_stats(place).peak_reserved, 4 * kMiB);
  reset_memory_peak(Tier::kDevice);
  EXPECT_EQ(memory_stats(place).peak_reserved, 2 * kMiB);
}

// GPUs that are first asked for while it lives keep small blocks, or take AUTOPHI_GPU_MEMORY's
// word.
class GpuMemory {
 public:
  explicit GpuMemory(const char* word) : before_(std::getenv(kName)) { setenv(kName, word, 1); }
  ~GpuMemory() { setenv(kName, before_.c_str(), 1); }

 private:
  static constexpr const char* kName = "AUTOPHI_GPU_MEMORY";
  std::string before_;
};

const void* place_of_new(int64_t n, int gpu) {
  return DenseTensor::empty({{n}, DataType::FLOAT32}, GPUPlace(gpu)).raw_data();
}

TEST_F(OnEmulator, SmallBlocksAreKeptForTheNextOfTheirSize) {
  const GpuMemory memory("blocks");
  const void* const first = place_of_new(100, 4);
  EXPECT_EQ(place_of_new(98, 4), first);
  EXPECT_NE(place_of_new(200, 4), first);
  EXPECT_EQ(place_of_new(100, 4), first);
  const DenseTensor holds_it = DenseTensor::empty({{100}, DataType::FLOAT32}, GPUPlace(4));
  EXPECT_EQ(holds_it.raw_data(), first);
  EXPECT_NE(place_of_new(100, 4), first);
  // Accounts count what tensors hold, not what is kept.
  EXPECT_EQ(memory_stats(GPUPlace(4)).current, 400);
}

// The kernel that reads x is queued before x ends, and its memory is written afterwards.
TEST_F(OnEmulator, AKeptBlockIsWrittenAfterItsReaders) {
  const GpuMemory memory("blocks");
  const Place place = GPUPlace(6);
  const KernelContext ctx(place);
  DenseTensor sum = DenseTensor::empty({{300}, DataType::FLOAT32}, place);
  DenseTensor y = DenseTensor::empty(sum.meta(), place);
  gpu::GpuDevice& device = gpu::GpuDevice::of(place);
  std::vector<float> ones(300, 1.0f);
  for (DenseTensor* x : {&sum, &y})
    device.copy_from_host(static_cast<std::byte*>(x->mutable_raw_data()), ones.data(), 1200);
  for (int i = 0; i < 20; ++i) {
    DenseTensor x = DenseTensor::empty(sum.meta(), place);
    registered<kernels::add, float>(ctx, y, y, &x);
    registered<kernels::add, float>(ctx, sum, x, &sum);
  }
  std::vector<float> got(300);
  device.copy_to_host(got.data(), static_cast<const std::byte*>(sum.raw_data()), 1200);
  EXPECT_THAT(got, Each(41));
}

TEST_F(OnEmulator, KeptBlocksGiveWayWhereThereIsNoRoom) {
  const GpuMemory memory("blocks");
  constexpr size_t kMiB = size_t{1} << 20;
  const auto make = [](size_t nbytes) {
    DenseTensor x =
        DenseTensor::empty({{static_cast<int64_t>(nbytes)}, DataType::INT8}, GPUPlace(5));
    (void)x.raw_data();
    return x;
  };
  (void)make(1);
  Device& device = Device::of(GPUPlace(5));
  cuda_on_cpu::set_memory_limit(100 * kMiB);
  {
    std::vector<DenseTensor> all;
    all.reserve(60);
    for (int i = 0; i < 60; ++i) all.push_back(make(kMiB));
  }
  device.wait();
  long total = 0, free = 0, reserved = 0, cached = 0;
  ASSERT_EQ(std::sscanf(device.describe_memory().c_str(),
                        "Of %ld bytes of the GPU %ld are free; this process uses %ld, of which %ld",
                        &total, &free, &reserved, &cached),
            4);
  EXPECT_GE(cached, static_cast<long>(60 * kMiB));
  EXPECT_EQ(cached, reserved);
  (void)make(90 * kMiB);
}

TEST_F(OnEmulator, KeptBlocksHaveALimit) {
  const GpuMemory memory("blocks");
  gpu::SmallBlockCache blocks;
  std::vector<std::byte> bytes(65);  // stand for blocks
  for (size_t i = 0; i < 64; ++i)
    EXPECT_TRUE(blocks.keep(&bytes[i], gpu::SmallBlockCache::kLargest));
  EXPECT_FALSE(blocks.keep(&bytes[64], 1));
  EXPECT_EQ(blocks.nbytes(), gpu::SmallBlockCache::kMost);
  EXPECT_EQ(blocks.take(gpu::SmallBlockCache::kLargest), &bytes[63]);
  EXPECT_FALSE(blocks.keep(&bytes[64], gpu::SmallBlockCache::kLargest + 1));
  EXPECT_EQ(blocks.release().size(), 63u);
  EXPECT_EQ(blocks.take(gpu::SmallBlockCache::kLargest), nullptr);
  EXPECT_EQ(blocks.nbytes(), 0u);
}

TEST_F(OnEmulator, AnotherWordForMemoryIsRefused) {
  const GpuMemory memory("heap");
  EXPECT_THAT([] { Device::of(GPUPlace(2)); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "AUTOPHI_GPU_MEMORY is 'heap'; use blocks or pool."));
}

TEST_F(OnEmulator, AFailedKernelNamesTheLastLaunches) {
  const DenseTensor x = on_gpu(numbers(8), {8});
  DenseTensor y = DenseTensor::empty(x.meta(), GPUPlace(0));
  cuda_on_cpu::fail_next_launch(cudaErrorIllegalAddress);
  {
    const OpScope op("exp");
    registered<kernels::exp, float>(KernelContext(GPUPlace(0)), x, &y);
  }
  EXPECT_THAT([&] { gpu::GpuDevice::of(GPUPlace(0)).wait(); },
              ThrowsError(ErrorCode::kUnavailable, "cudaErrorIllegalAddress"));
  EXPECT_THAT([&] { gpu::GpuDevice::of(GPUPlace(0)).wait(); },
              ThrowsError(ErrorCode::kUnavailable, "the last launches: "));
  EXPECT_THAT([&] { gpu::GpuDevice::of(GPUPlace(0)).wait(); },
              ThrowsError(ErrorCode::kUnavailable, "exp (the last of "));
}

TEST_F(OnEmulator, WithoutADriverTheReasonIsSaid) {
  cuda_on_cpu::set_driver_version(0);
  EXPECT_THAT([] { Device::of(GPUPlace(9)); },
              ThrowsError(ErrorCode::kUnavailable,
                          "no NVIDIA driver is available (CUDA error 35); this build needs one for "
                          "CUDA 13.0; use `place: cpu`"));
}

TEST_F(OnEmulator, ADriverThatIsTooOldIsToldWithBothVersions) {
  cuda_on_cpu::set_driver_version(12020);
  EXPECT_THAT([] { Device::of(GPUPlace(9)); },
              ThrowsError(ErrorCode::kUnavailable,
                          "the NVIDIA driver of this machine supports CUDA 12.2, but this build "
                          "needs one for CUDA 13.0"));
}

TEST_F(OnEmulator, AGpuThatNoCodeFitsIsToldWithWhatWouldFit) {
  cuda_on_cpu::set_capability(7, 5);
  cuda_on_cpu::set_code_fits(false);
  EXPECT_THAT([] { Device::of(GPUPlace(3)); },
              ThrowsError(ErrorCode::kUnavailable,
                          "gpu:3 (CUDA on the CPU 3, sm_75) cannot run the code of this build, "
                          "which is for 80-virtual, 90-real (CUDA error 209, "
                          "cudaErrorNoKernelImageForDevice: no kernel image is available for "
                          "execution on the device). Build with -DAUTOPHI_CUDA_ARCH=75, or use "
                          "`place: cpu`."));
  // It is looked for anew when it is asked for again.
  cuda_on_cpu::reset();
  EXPECT_EQ(Device::of(GPUPlace(3)).place(), GPUPlace(3));
}

TEST_F(OnEmulator, AGpuThatIsNotThereIsToldWithTheNumberOfThoseThatAre) {
  cuda_on_cpu::set_gpus(4);
  EXPECT_THAT([] { Device::of(GPUPlace(7)); },
              ThrowsError(ErrorCode::kOutOfRange,
                          "gpu:7 does not exist: CUDA shows 4 GPUs to this process"));
  cuda_on_cpu::set_gpus(0);
  EXPECT_THAT([] { Device::of(GPUPlace(7)); },
              ThrowsError(ErrorCode::kUnavailable,
                          "no GPU is available (CUDA error 100, cudaErrorNoDevice"));
}

}  // namespace
}  // namespace phi::testing
