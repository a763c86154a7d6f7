// What is particular to calls between GPUs: who makes communicators, what is exact and what is
// fast, and that the host goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/nccl/reduce.h"
#include "distributed/comm/reduce.h"
#include "phi/common/half.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/group_calls.h"

namespace phi::distributed {
namespace {

using testing::GroupCalls;

void on_gpus(int64_t n, GpuReduction reduction,
             const std::function<void(Communicator& gpus)>& body) {
  run_ranks(n, [&](World& host) {
    const Place gpu = GPUPlace(static_cast<int>(host.rank()));
    host.rank_context().set_place(gpu);
    host.set_device_communicator(make_nccl_communicator(host, gpu, reduction));
    body(host.communicator(gpu));
  });
}

std::vector<float> values_of(int64_t rank, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[i] = 1.0f / static_cast<float>(3 * i + 7 * rank + 1);
  return values;
}

// As all backends reduce.
std::vector<float> sums(int64_t ranks, int64_t n, ReduceKind kind) {
  std::vector<std::vector<float>> all;
  std::vector<const void*> inputs;
  for (int64_t rank = 0; rank < ranks; ++rank) all.push_back(values_of(rank, n));
  for (const auto& values : all) inputs.push_back(values.data());
  std::vector<float> out(static_cast<size_t>(n));
  reduce_arrays(inputs, out.data(), n, DataType::FLOAT32, kind);
  return out;
}

class Reductions : public ::testing::TestWithParam<GpuReduction> {};

TEST_P(Reductions, AreExactOrNear) {
  on_gpus(4, GetParam(), [](Communicator& gpus) {
    const GroupCalls all(gpus);
    for (const int64_t n : {4, 4000, 40'000}) {
      for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kAvg, ReduceKind::kMax}) {
        const std::vector<float> expected = sums(4, n, kind);
        std::vector<float> got = values_of(gpus.rank(), n);
        all.all_reduce(got.data(), n, DataType::FLOAT32, kind);
        std::vector<float> part(static_cast<size_t>(n / 4));
        all.reduce_scatter(values_of(gpus.rank(), n).data(), part.data(), n / 4, DataType::FLOAT32,
                           kind);
        got.insert(got.end(), part.begin(), part.end());
        for (size_t i = 0; i < got.size(); ++i) {
          const auto at = i < expected.size()
                              ? i
                              : i - expected.size() + static_cast<size_t>(gpus.rank() * n / 4);
          if (GetParam() == GpuReduction::kExact || kind == ReduceKind::kMax) {
            ASSERT_EQ(got[i], expected[at]) << name_of(kind) << " " << i;
          } else {
            ASSERT_NEAR(got[i], expected[at], 1e-6) << name_of(kind) << " " << i;
          }
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reductions,
                         ::testing::Values(GpuReduction::kExact, GpuReduction::kFast),
                         [](const auto& info) {
                           return info.param == GpuReduction::kExact ? "exact" : "fast";
                         });

// 2048 + 1 is 2048 in float16, and 2048 + (1 + 1) is 2050: who rounds once comes to 2050.
TEST(FastReductions, RoundEachStepOf16BitSums) {
  const auto sum = [](GpuReduction reduction) {
    float got = 0;
    on_gpus(3, reduction, [&](Communicator& gpus) {
      float16 x(gpus.rank() == 0 ? 2048.0f : 1.0f);
      GroupCalls(gpus).all_reduce(&x, 1, DataType::FLOAT16, ReduceKind::kSum);
      if (gpus.rank() == 0) got = static_cast<float>(x);
    });
    return got;
  };
  EXPECT_EQ(sum(GpuReduction::kExact), 2050.0f);
}

// The communicator of two of four ranks; the others do something else meanwhile.
TEST(NcclGroups, MembersAloneMakeTheirCommunicator) {
  on_gpus(4, GpuReduction::kFast, [](Communicator& gpus) {
    const std::vector<int64_t> pair =
        gpus.rank() < 2 ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{2, 3};
    if (gpus.rank() == 3) World::current().everyone().barrier();
    float x = static_cast<float>(gpus.rank() + 1);
    const GroupCalls group(gpus, gpus.group(pair));
    if (gpus.rank() != 3) World::current().everyone().barrier();
    for (int i = 0; i < 3; ++i) group.all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
    EXPECT_EQ(x, (gpus.rank() < 2 ? 3.0f : 7.0f) * 4);
  });
}

// A transfer is under way while its rank is in calls of the host's gpus, which the others wait
// for.
TEST(NcclGroups, GoOnWhileTheHostsWorldWaits) {
  on_gpus(2, GpuReduction::kExact, [](Communicator& gpus) {
    Group& all = gpus.everyone();
    const auto memory = std::make_shared<DeviceMemory>(gpus.device(), 8);
    const Send send{1, memory->data(), 8};
    const Recv recv{0, memory->data(), 8};
    const Transfer transfer = gpus.rank() == 0 ? all.start_exchange({&send, 1}, {}, memory)
                                               : all.start_exchange({}, {&recv, 1}, memory);
    if (gpus.rank() == 1) transfer.wait();
    World::current().everyone().barrier();
    transfer.wait();
  });
}

// A thread that swaps makes no other call of CUDA first, and would take up GPU 0.
TEST(PinnedMemory, IsGivenBackToItsOwnGpu) {
  auto& device = gpu::GpuDevice::of(GPUPlace(1));
  std::byte* const memory = device.allocate_host(4096);
  std::thread([&] {
    device.free_host(memory);
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
  }).join();
}

// More inputs than a kernel is given by value.
TEST(ReduceOnGpu, TakesAnyNumberOfInputs) {
  auto& device = gpu::GpuDevice::of(GPUPlace(0));
  for (const int count : {1, 2, 64, 65, 130}) {
    std::vector<DeviceMemory> memory;
    std::vector<const void*> inputs;
    int64_t expected[3] = {};
    for (int j = 0; j < count; ++j) {
      const int64_t values[3] = {j, 2 * j + 1, -j};
      for (int i = 0; i < 3; ++i) expected[i] += values[i];
      memory.emplace_back(device, sizeof(values));
      device.copy_from_host(memory.back().data(), values, sizeof(values));
      inputs.push_back(memory.back().data());
    }
    const DeviceMemory out(device, sizeof(expected));
    reduce_on_gpu(device, inputs, out.data(), 3, DataType::INT64, ReduceKind::kSum);
    int64_t got[3] = {};
    device.copy_to_host(got, out.data(), sizeof(got));
    EXPECT_THAT(got, ::testing::ElementsAreArray(expected)) << count;
  }
}

}  // namespace
}  // namespace phi::distributed
