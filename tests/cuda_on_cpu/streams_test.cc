// Streams, events and copies: work runs late, a forgotten wait gives wrong values, and what CUDA
// refuses is refused.
#include "support/cuda_on_cpu/streams.h"

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/kernels.h"
#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

constexpr size_t kBytes = 64 * sizeof(float);

struct Pinned {
  Pinned() { EXPECT_WORKS(cudaMallocHost(&values, kBytes)); }
  ~Pinned() { cudaFreeHost(values); }
  Pinned(const Pinned&) = delete;
  float* values = nullptr;
};

struct Event {
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    EXPECT_WORKS(cudaEventCreateWithFlags(&event, flags));
  }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  cudaEvent_t event = nullptr;
};

TEST(Streams, NothingRunsBeforeSomebodyWaits) {
  Session gpu;
  Pinned host;
  host.values[0] = 1;
  float* x = gpu.upload(std::vector<float>{5});
  EXPECT_WORKS(cudaMemcpyAsync(host.values, x, sizeof(float), cudaMemcpyDeviceToHost, gpu.stream));
  EXPECT_EQ(host.values[0], 1);  // a program that reads here has forgotten to wait
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_EQ(host.values[0], 5);
}

TEST(Streams, PinnedMemoryIsReadLateAndPageableMemoryAtTheCall) {
  Session gpu;
  Pinned pinned;
  std::vector<float> pageable{1};
  pinned.values[0] = 1;
  float* x = gpu.allocate<float>(2);
  EXPECT_WORKS(
      cudaMemcpyAsync(x, pinned.values, sizeof(float), cudaMemcpyHostToDevice, gpu.stream));
  EXPECT_WORKS(
      cudaMemcpyAsync(x + 1, pageable.data(), sizeof(float), cudaMemcpyHostToDevice, gpu.stream));
  pinned.values[0] = 2;
  pageable[0] = 2;
  EXPECT_EQ(gpu.download(x, 2), (std::vector<float>{2, 1}));
}

// A value goes through two streams; whether the second waits for the first is the question.
float through_two_streams(bool waits) {
  Session first;
  Session second;
  Event event;
  float* x = first.allocate<float>(1);
  float* y = second.allocate<float>(1);
  const float value = 3;
  EXPECT_WORKS(cudaStreamSynchronize(first.stream));
  EXPECT_WORKS(cudaMemcpyAsync(x, &value, sizeof value, cudaMemcpyHostToDevice, first.stream));
  EXPECT_WORKS(cudaEventRecord(event.event, first.stream));
  if (waits) {
    EXPECT_WORKS(cudaStreamWaitEvent(second.stream, event.event, 0));
  }
  EXPECT_WORKS(copy_one(second.stream, x, y));
  return second.download(y, 1)[0];
}

TEST(Streams, AForgottenWaitGivesNaN) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  EXPECT_TRUE(std::isnan(through_two_streams(false)));
}

TEST(Streams, AForgottenWaitGivesNaNForSomeSeeds) {
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    cuda_on_cpu::set_order(cuda_on_cpu::Order::kDrawn, seed);
    wrong += std::isnan(through_two_streams(false)) ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, 20);  // in other orders it comes out right, as on a GPU
}

TEST(Streams, EventsOrderStreams) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    cuda_on_cpu::set_order(cuda_on_cpu::Order::kDrawn, seed);
    EXPECT_EQ(through_two_streams(true), 3);
  }
}

TEST(Streams, AWaitMeansTheRecordBeforeIt) {
  Session gpu;
  Session other;
  Event event;
  EXPECT_WORKS(cudaStreamWaitEvent(other.stream, event.event, 0));  // never recorded: no wait
  EXPECT_WORKS(cudaStreamSynchronize(other.stream));
  EXPECT_WORKS(cudaEventQuery(event.event));
  EXPECT_WORKS(cudaEventRecord(event.event, gpu.stream));
  EXPECT_WORKS(cudaStreamWaitEvent(other.stream, event.event, 0));
  EXPECT_WORKS(cudaEventRecord(event.event, other.stream));  // behind the wait; no circle
  EXPECT_WORKS(cudaEventSynchronize(event.event));
  EXPECT_WORKS(cudaStreamQuery(gpu.stream));
}

TEST(Streams, QueriesComeToAnEnd) {
  Session gpu;
  Event event;
  gpu.upload(some_floats(10));
  EXPECT_WORKS(cudaEventRecord(event.event, gpu.stream));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event.event));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(gpu.stream));
  int queries = 0;
  while (cudaEventQuery(event.event) == cudaErrorNotReady) ASSERT_LT(++queries, 100);
  while (cudaStreamQuery(gpu.stream) == cudaErrorNotReady) ASSERT_LT(++queries, 100);
  EXPECT_CUDA(cudaErrorNotReady, cudaGetLastError());
}

TEST(Streams, TimesBetweenEvents) {
  Session gpu;
  Event start(cudaEventDefault);
  Event end(cudaEventDefault);
  Event untimed;
  float ms = -1;
  EXPECT_WORKS(cudaEventRecord(start.event, gpu.stream));
  EXPECT_WORKS(cudaLaunchHostFunc(
      gpu.stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); },
      nullptr));
  EXPECT_WORKS(cudaEventRecord(end.event, gpu.stream));
  EXPECT_WORKS(cudaEventRecord(untimed.event, gpu.stream));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventElapsedTime(&ms, start.event, end.event));
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_WORKS(cudaEventElapsedTime(&ms, start.event, end.event));
  EXPECT_GE(ms, 5);
  EXPECT_CUDA(cudaErrorInvalidResourceHandle,
              cudaEventElapsedTime(&ms, start.event, untimed.event));
}

TEST(Streams, KindsAndBoundsOfCopies) {
  Session gpu;
  std::vector<float> host(8);
  float* x = gpu.allocate<float>(8);
  const size_t n = 8 * sizeof(float);
  const cudaError_t wrong = cudaErrorInvalidValue;
  const auto copy = [&](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, gpu.stream);
  };
  EXPECT_WORKS(copy(x, host.data(), n, cudaMemcpyDefault));
  EXPECT_CUDA(wrong, copy(x, host.data(), n, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(wrong, copy(host.data(), x, n, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidMemcpyDirection,
              copy(x, host.data(), n, static_cast<cudaMemcpyKind>(7)));
  EXPECT_CUDA(wrong, copy(x, host.data(), n + 4, cudaMemcpyHostToDevice));
  EXPECT_CUDA(wrong, copy(x + 1, host.data(), n, cudaMemcpyHostToDevice));
  EXPECT_CUDA(wrong, cudaMemsetAsync(host.data(), 0, n, gpu.stream));
  EXPECT_WORKS(cudaMemsetAsync(x, 0, n, gpu.stream));
  EXPECT_EQ(gpu.download(x, 8), std::vector<float>(8));
}

TEST(Streams, CopiesBetweenGpus) {
  Session gpu;
  EXPECT_WORKS(cudaSetDevice(1));
  cudaStream_t other = nullptr;
  void* there = nullptr;
  EXPECT_WORKS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  EXPECT_WORKS(cudaMallocAsync(&there, kBytes, other));
  EXPECT_WORKS(cudaStreamSynchronize(other));
  EXPECT_WORKS(cudaSetDevice(0));
  const auto x = some_floats(64);
  float* here = gpu.upload(x);
  float* back = gpu.allocate<float>(64);
  int can = 0;
  EXPECT_WORKS(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_WORKS(cudaMemcpyPeerAsync(there, 1, here, 0, kBytes, gpu.stream));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpyPeerAsync(there, 0, here, 0, kBytes, gpu.stream));
  EXPECT_WORKS(cudaMemcpyAsync(back, there, kBytes, cudaMemcpyDefault, gpu.stream));
  EXPECT_EQ(gpu.download(back, 64), x);
  EXPECT_WORKS(cudaFreeAsync(there, other));
  EXPECT_WORKS(cudaStreamDestroy(other));
}

TEST(Streams, AnotherCurrentDevice) {
  Session gpu;
  Event event;
  float* x = gpu.allocate<float>(1);
  EXPECT_WORKS(cudaSetDevice(1));
  const float value = 1;
  EXPECT_WORKS(cudaMemcpyAsync(x, &value, sizeof value, cudaMemcpyHostToDevice, gpu.stream));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, copy_one(gpu.stream, x, x));
  Event of_the_other;
  EXPECT_WORKS(cudaEventRecord(event.event, gpu.stream));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(of_the_other.event, gpu.stream));
  EXPECT_WORKS(cudaEventSynchronize(event.event));
  EXPECT_WORKS(cudaSetDevice(0));
}

TEST(Streams, RanksAsThreads) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kDrawn, 5);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back([rank] {
      EXPECT_WORKS(cudaSetDevice(rank));
      cudaStream_t stream = nullptr;
      EXPECT_WORKS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int round = 0; round < 20; ++round) {
        std::vector<int> x(256);
        std::iota(x.begin(), x.end(), rank * 1000 + round);
        std::vector<int> sum(1);
        void* memory = nullptr;
        EXPECT_WORKS(cudaMallocAsync(&memory, 257 * sizeof(int), stream));
        int* on_gpu = static_cast<int*>(memory);
        EXPECT_WORKS(
            cudaMemcpyAsync(on_gpu, x.data(), 256 * sizeof(int), cudaMemcpyHostToDevice, stream));
        EXPECT_WORKS(block_sums(stream, on_gpu, 256, 1, on_gpu + 256));
        EXPECT_WORKS(
            cudaMemcpyAsync(sum.data(), on_gpu + 256, sizeof(int), cudaMemcpyDeviceToHost, stream));
        EXPECT_WORKS(cudaFreeAsync(memory, stream));
        EXPECT_WORKS(cudaStreamSynchronize(stream));
        EXPECT_EQ(sum[0], std::accumulate(x.begin(), x.end(), 0));
      }
      EXPECT_WORKS(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& rank : ranks) rank.join();
  cuda_on_cpu::reset();
}

TEST(Streams, HostFunctionsMayTakeLocks) {
  Session gpu;
  std::mutex mutex;
  std::atomic<int> calls{0};
  struct Both {
    std::mutex* mutex;
    std::atomic<int>* calls;
  } both{&mutex, &calls};
  EXPECT_WORKS(cudaLaunchHostFunc(
      gpu.stream,
      [](void* data) {
        const Both& locked = *static_cast<Both*>(data);
        const std::lock_guard lock(*locked.mutex);
        ++*locked.calls;
      },
      &both));
  EXPECT_EQ(calls, 0);
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    Session own;  // calls the runtime while it holds what the function wants
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    float* x = own.upload(some_floats(4));
    static_cast<void>(x);
  });
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_EQ(calls, 1);
  other.join();
}

TEST(Streams, ADestroyedStreamStillRuns) {
  Session gpu;
  Pinned host;
  host.values[0] = 0;
  float* x = gpu.upload(std::vector<float>{4});
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  cudaStream_t brief = nullptr;
  EXPECT_WORKS(cudaStreamCreateWithPriority(&brief, cudaStreamNonBlocking, -1));
  EXPECT_WORKS(cudaMemcpyAsync(host.values, x, sizeof(float), cudaMemcpyDeviceToHost, brief));
  EXPECT_WORKS(cudaStreamDestroy(brief));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(brief));
  EXPECT_WORKS(cudaDeviceSynchronize());
  EXPECT_EQ(host.values[0], 4);
}

// Work of libraries that exchange messages waits for its other side.
TEST(Streams, WorkThatIsHeldUpLetsOthersGoFirst) {
  Session gpu;
  Session other;
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  bool sent = false;
  bool received = false;
  EXPECT_WORKS(cuda_on_cpu::enqueue(
      gpu.stream,
      {.name = "receive", .run = [&] { received = sent; }, .held_up = [&] { return !sent; }}));
  EXPECT_WORKS(cuda_on_cpu::enqueue(other.stream, {.name = "send", .run = [&] { sent = true; }}));
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  EXPECT_TRUE(received);
}

class StreamsDeathTest : public ::testing::Test {
 protected:
  StreamsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(StreamsDeathTest, DefaultStream) {
  EXPECT_DEATH(cudaMemsetAsync(nullptr, 0, 4, nullptr), "the default stream is used");
  EXPECT_DEATH(cudaStreamSynchronize(cudaStreamLegacy), "the default stream is used");
  EXPECT_DEATH(nothing(nullptr, dim3(1), dim3(1)), "the default stream is used");
}

TEST_F(StreamsDeathTest, WorkThatIsHeldUpForGood) {
  Session gpu;
  bool held = true;
  cuda_on_cpu::set_patience(std::chrono::milliseconds(100));
  EXPECT_WORKS(cuda_on_cpu::enqueue(
      gpu.stream, {.name = "receive", .run = [] {}, .held_up = [&] { return held; }}));
  EXPECT_DEATH(cudaStreamSynchronize(gpu.stream),
               "no stream can make progress: \n.* of GPU 0: receive, 1 queued after it");
  held = false;
}

void wait_forever() {
  Session gpu;
  Session other;
  Event event;
  static std::atomic<bool> never{false};
  cuda_on_cpu::set_patience(std::chrono::milliseconds(200));
  EXPECT_WORKS(cudaLaunchHostFunc(
      other.stream,
      [](void*) {
        while (!never) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      nullptr));
  EXPECT_WORKS(cudaEventRecord(event.event, other.stream));
  EXPECT_WORKS(cudaStreamWaitEvent(gpu.stream, event.event, 0));
  EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(1)));
  std::thread stuck([&] { cudaStreamSynchronize(other.stream); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  cudaStreamSynchronize(gpu.stream);
}

TEST_F(StreamsDeathTest, WaitersThatCannotGoOnNameTheHeadsOfStreams) {
  EXPECT_DEATH(
      wait_forever(),
      "no stream can make progress: \n.*stream 1 of GPU 0: cudaStreamWaitEvent \\(an event "
      "of stream 2\\), 2 queued after it\n.*stream 2 of GPU 0: host function .* \\(runs\\), 2 "
      "queued after it");
}

}  // namespace
}  // namespace cuda_on_cpu_test
