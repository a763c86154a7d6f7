// Memory of GPUs: closed to the host and to other GPUs, NaN when fresh, counted and limited.
#include <cmath>
#include <cstring>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(Memory, FreshMemoryIsNaN) {
  Session gpu;
  for (const float value : gpu.download(gpu.allocate<float>(100), 100)) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Memory, MemoryOfAFreedArrayIsNaNAgain) {
  Session gpu;
  void* first = nullptr;
  EXPECT_WORKS(cudaMalloc(&first, 400));
  EXPECT_WORKS(cudaMemsetAsync(first, 0, 400, gpu.stream));
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_WORKS(cudaFree(first));
  void* second = nullptr;
  EXPECT_WORKS(cudaMalloc(&second, 400));
  EXPECT_EQ(first, second);
  std::vector<float> values(100);
  EXPECT_WORKS(cudaMemcpy(values.data(), second, 400, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(std::isnan(values[99]));
  EXPECT_WORKS(cudaFree(second));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(second));
}

TEST(Memory, FreeMemoryIsCounted) {
  Session gpu;
  EXPECT_WORKS(cudaDeviceSynchronize());
  cuda_on_cpu::set_memory_limit(64 * kMiB);
  size_t before = 0;
  size_t free = 0;
  size_t total = 0;
  EXPECT_WORKS(cudaMemGetInfo(&before, &total));
  EXPECT_EQ(total, 64 * kMiB);
  void* memory = nullptr;
  EXPECT_WORKS(cudaMalloc(&memory, kMiB));
  EXPECT_WORKS(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(free, before - kMiB);
  void* too_much = &free;
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMalloc(&too_much, 64 * kMiB));
  EXPECT_EQ(too_much, nullptr);
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMallocAsync(&too_much, 64 * kMiB, gpu.stream));
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaGetLastError());
  EXPECT_WORKS(cudaFree(memory));
}

TEST(Memory, FreesThatAreQueuedMakeRoom) {
  Session gpu;
  EXPECT_WORKS(cudaDeviceSynchronize());
  cuda_on_cpu::set_memory_limit(64 * kMiB);
  for (int i = 0; i < 10; ++i) {
    void* memory = nullptr;
    EXPECT_WORKS(cudaMallocAsync(&memory, 40 * kMiB, gpu.stream));
    EXPECT_WORKS(cudaFreeAsync(memory, gpu.stream));
    EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(memory, gpu.stream));
  }
}

uint64_t attribute_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  uint64_t value = 0;
  EXPECT_WORKS(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

cudaMemPool_t pool_that_keeps(uint64_t threshold) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = 0;
  cudaMemPool_t pool = nullptr;
  EXPECT_WORKS(cudaMemPoolCreate(&pool, &props));
  EXPECT_WORKS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  return pool;
}

TEST(Memory, PoolsKeepWhatTheirThresholdSays) {
  Session gpu;
  const uint64_t threshold = 6 * kMiB;
  cudaMemPool_t pool = pool_that_keeps(threshold);
  void* memory = nullptr;
  EXPECT_WORKS(cudaMallocFromPoolAsync(&memory, 9 * kMiB, pool, gpu.stream));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 9 * kMiB);
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), 10 * kMiB);
  EXPECT_WORKS(cudaFreeAsync(memory, gpu.stream));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 9 * kMiB);  // it has not run
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), threshold);
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemHigh), 9 * kMiB);
  uint64_t zero = 0;
  EXPECT_WORKS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemHigh), 0u);
  EXPECT_WORKS(cudaMemPoolTrimTo(pool, 0));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), 0u);
  EXPECT_WORKS(cudaMemPoolDestroy(pool));
}

TEST(Memory, AnAllocationTakesTheMemoryOfFreesBeforeItOnItsStream) {
  Session gpu;
  cudaMemPool_t pool = pool_that_keeps(UINT64_MAX);
  cudaStream_t other = nullptr;
  EXPECT_WORKS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  const auto allocate = [&](size_t size, cudaStream_t stream) {
    void* memory = nullptr;
    EXPECT_WORKS(cudaMallocFromPoolAsync(&memory, size * kMiB, pool, stream));
    return memory;
  };
  void* first = allocate(8, gpu.stream);
  EXPECT_WORKS(cudaFreeAsync(first, gpu.stream));
  void* second = allocate(6, gpu.stream);
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), 8 * kMiB);
  void* third = allocate(4, gpu.stream);
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), 10 * kMiB);
  EXPECT_WORKS(cudaFreeAsync(second, gpu.stream));
  void* fourth = allocate(2, other);  // whose work may come before the free
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReservedMemCurrent), 12 * kMiB);
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_WORKS(cudaStreamSynchronize(other));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 6 * kMiB);
  EXPECT_WORKS(cudaFreeAsync(third, gpu.stream));
  EXPECT_WORKS(cudaFreeAsync(fourth, other));
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_WORKS(cudaStreamSynchronize(other));
  EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_WORKS(cudaStreamDestroy(other));
  EXPECT_WORKS(cudaMemPoolDestroy(pool));
}

TEST(Memory, KindsOfPointers) {
  Session gpu;
  const float* x = gpu.allocate<float>(4);
  float host = 0;
  void* pinned = nullptr;
  EXPECT_WORKS(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable));
  cudaPointerAttributes attributes{};
  EXPECT_WORKS(cudaPointerGetAttributes(&attributes, x + 3));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_WORKS(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_WORKS(cudaPointerGetAttributes(&attributes, &host));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_WORKS(cudaFreeHost(pinned));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(pinned));
}

TEST(Memory, OfTheHostThatIsPinnedLater) {
  Session gpu;
  float* x = gpu.allocate<float>(4);
  alignas(4096) static float values[1024] = {1, 2, 3, 4};
  EXPECT_WORKS(cudaHostRegister(values, sizeof(values), cudaHostRegisterPortable));
  EXPECT_CUDA(cudaErrorHostMemoryAlreadyRegistered,
              cudaHostRegister(values + 8, 4096, cudaHostRegisterPortable));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(values));
  // Read when the copy runs, which is when somebody waits.
  EXPECT_WORKS(cudaMemcpyAsync(x, values, 16, cudaMemcpyHostToDevice, gpu.stream));
  values[0] = 7;
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  float got[4] = {};
  EXPECT_WORKS(cudaMemcpy(got, x, 16, cudaMemcpyDeviceToHost));
  EXPECT_EQ(got[0], 7);
  EXPECT_WORKS(cudaHostUnregister(values));
  EXPECT_CUDA(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(values));
}

class MemoryDeathTest : public ::testing::Test {
 protected:
  MemoryDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(MemoryDeathTest, TheHostReadsAGpu) {
  Session gpu;
  volatile float* x = gpu.upload(std::vector<float>{1});
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_DEATH(static_cast<void>(x[0]), "");
  EXPECT_DEATH(x[0] = 1, "");
}

TEST_F(MemoryDeathTest, AFunctionOfTheHostReadsAGpu) {
  const auto run = [] {
    Session gpu;
    float* x = gpu.upload(std::vector<float>{1});
    cudaLaunchHostFunc(
        gpu.stream, [](void* data) { *static_cast<volatile float*>(data) = 2; }, x);
    cudaStreamSynchronize(gpu.stream);
  };
  EXPECT_DEATH(run(), "");
}

TEST_F(MemoryDeathTest, AKernelReadsAnotherGpu) {
  const auto run = [] {
    Session gpu;
    float* x = gpu.upload(std::vector<float>{1});
    cudaStreamSynchronize(gpu.stream);
    cudaSetDevice(1);
    Session other;
    float* y = other.allocate<float>(1);
    copy_one(other.stream, x, y);
    cudaStreamSynchronize(other.stream);
  };
  EXPECT_DEATH(run(), "");
}

TEST_F(MemoryDeathTest, AKernelIsGivenPageableMemory) {
  Session gpu;
  float* y = gpu.allocate<float>(1);
  const float x = 1;
  EXPECT_DEATH(copy_one(gpu.stream, &x, y),
               "argument 1 of kernel .*copy_one_kernel.* points to pageable memory of the host");
}

TEST_F(MemoryDeathTest, ACopyAfterTheFree) {
  const auto run = [] {
    Session gpu;
    void* x = nullptr;
    cudaMallocAsync(&x, 4, gpu.stream);
    cudaFreeAsync(x, gpu.stream);
    cudaMemsetAsync(x, 0, 4, gpu.stream);
    cudaStreamSynchronize(gpu.stream);
  };
  EXPECT_DEATH(run(), "cudaMemsetAsync of GPU 0 uses memory that is not allocated where it runs");
}

}  // namespace
}  // namespace cuda_on_cpu_test
