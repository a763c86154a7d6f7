// What the runtime says of drivers, GPUs and errors, and graphs.
#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

TEST(Runtime, WithoutADriver) {
  cuda_on_cpu::set_driver_version(0);
  int number = -1;
  EXPECT_CUDA(cudaErrorInsufficientDriver, cudaGetDeviceCount(&number));
  EXPECT_EQ(number, 0);
  EXPECT_WORKS(cudaDriverGetVersion(&number));
  EXPECT_EQ(number, 0);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaErrorInsufficientDriver, cudaStreamCreateWithFlags(&stream, 0));
  EXPECT_CUDA(cudaErrorInsufficientDriver, cudaGetLastError());
  cuda_on_cpu::reset();
}

TEST(Runtime, DriverThatIsTooOld) {
  cuda_on_cpu::set_driver_version(12040);
  int number = -1;
  EXPECT_CUDA(cudaErrorInsufficientDriver, cudaGetDeviceCount(&number));
  EXPECT_WORKS(cudaDriverGetVersion(&number));
  EXPECT_EQ(number, 12040);
  EXPECT_WORKS(cudaRuntimeGetVersion(&number));
  EXPECT_EQ(number, CUDART_VERSION);
  cuda_on_cpu::reset();
}

TEST(Runtime, NumberOfGpus) {
  int number = -1;
  cuda_on_cpu::set_gpus(0);
  EXPECT_CUDA(cudaErrorNoDevice, cudaGetDeviceCount(&number));
  cuda_on_cpu::set_gpus(4);
  EXPECT_WORKS(cudaGetDeviceCount(&number));
  EXPECT_EQ(number, 4);
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(7));
  EXPECT_WORKS(cudaSetDevice(3));
  EXPECT_WORKS(cudaGetDevice(&number));
  EXPECT_EQ(number, 3);
  EXPECT_WORKS(cudaSetDevice(0));
  cuda_on_cpu::reset();
}

TEST(Runtime, Properties) {
  cuda_on_cpu::set_memory_limit(1000);
  cuda_on_cpu::set_multiprocessors(7);
  cudaDeviceProp properties;
  EXPECT_WORKS(cudaGetDeviceProperties(&properties, 1));
  EXPECT_STREQ(properties.name, "CUDA on the CPU 1");
  EXPECT_EQ(properties.major * 10 + properties.minor, 90);
  EXPECT_EQ(properties.totalGlobalMem, 1000u);
  EXPECT_EQ(properties.multiProcessorCount, 7);
  int value = 0;
  EXPECT_WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 1));
  EXPECT_EQ(value, 9);
  EXPECT_WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
  EXPECT_EQ(value, 7);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, cudaDevAttrEccEnabled, 1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 8));
  cuda_on_cpu::reset();
}

TEST(Runtime, GpusThatNoCodeFits) {
  Session gpu;
  const auto kernel = [&] { return nothing(gpu.stream, dim3(1), dim3(1)); };
  cudaFuncAttributes attributes;
  const auto* address = reinterpret_cast<const void*>(&cudaGetErrorName);
  EXPECT_WORKS(kernel());
  EXPECT_WORKS(cudaFuncGetAttributes(&attributes, address));
  EXPECT_EQ(attributes.binaryVersion, 90);
  cuda_on_cpu::set_capability(7, 5);
  cuda_on_cpu::set_code_fits(false);
  cudaDeviceProp properties;
  EXPECT_WORKS(cudaGetDeviceProperties(&properties, 0));
  EXPECT_EQ(properties.major * 10 + properties.minor, 75);
  EXPECT_CUDA(cudaErrorNoKernelImageForDevice, cudaFuncGetAttributes(&attributes, address));
  EXPECT_CUDA(cudaErrorNoKernelImageForDevice, kernel());
}

TEST(Runtime, AFailedKernelSticksToItsGpu) {
  {
    Session gpu;
    EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(1)));
    EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
    const uint64_t before = cuda_on_cpu::launches();
    cuda_on_cpu::fail_next_launch(cudaErrorIllegalAddress);
    EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(1)));
    EXPECT_WORKS(nothing(gpu.stream, dim3(1), dim3(1)));
    EXPECT_CUDA(cudaErrorIllegalAddress, cudaStreamSynchronize(gpu.stream));
    EXPECT_EQ(cuda_on_cpu::launches(), before);
    EXPECT_CUDA(cudaErrorIllegalAddress, nothing(gpu.stream, dim3(1), dim3(1)));
    EXPECT_CUDA(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_CUDA(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_WORKS(cudaSetDevice(1));
    Session other;
    EXPECT_WORKS(nothing(other.stream, dim3(1), dim3(1)));
    EXPECT_WORKS(cudaStreamSynchronize(other.stream));
    EXPECT_CUDA(cudaErrorIllegalAddress, cudaSetDevice(0));
    cuda_on_cpu::reset();
  }
  EXPECT_WORKS(cudaGetLastError());
}

TEST(Runtime, NamesAndTextsOfErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

struct Graph {
  explicit Graph(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_WORKS(cudaStreamEndCapture(stream, &graph));
    EXPECT_WORKS(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_WORKS(cudaGraphDestroy(graph));
  }
  ~Graph() { cudaGraphExecDestroy(exec); }
  Graph(const Graph&) = delete;
  cudaGraphExec_t exec = nullptr;
};

TEST(Graphs, RunWhatWasCapturedEachTime) {
  Session gpu;
  float* x = gpu.upload(std::vector<float>{1});
  float* y = gpu.upload(std::vector<float>{0});
  float* z = gpu.upload(std::vector<float>{0});
  EXPECT_WORKS(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
  cudaStreamCaptureStatus status;
  EXPECT_WORKS(cudaStreamIsCapturing(gpu.stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_WORKS(copy_one(gpu.stream, x, y));
  EXPECT_WORKS(copy_one(gpu.stream, y, z));
  const Graph graph(gpu.stream);
  EXPECT_EQ(gpu.download(z, 1)[0], 0);  // capturing has run nothing
  EXPECT_WORKS(cudaGraphLaunch(graph.exec, gpu.stream));
  EXPECT_EQ(gpu.download(z, 1)[0], 1);
  EXPECT_WORKS(cudaMemsetAsync(x, 0, sizeof(float), gpu.stream));
  EXPECT_WORKS(cudaGraphLaunch(graph.exec, gpu.stream));
  EXPECT_EQ(gpu.download(z, 1)[0], 0);
}

TEST(Graphs, StreamsForkAndJoinByEvents) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    cuda_on_cpu::set_order(cuda_on_cpu::Order::kDrawn, seed);
    Session gpu;
    Session side;
    cudaEvent_t fork = nullptr;
    cudaEvent_t join = nullptr;
    EXPECT_WORKS(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    EXPECT_WORKS(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    float* x = gpu.upload(std::vector<float>{1});
    float* y = gpu.upload(std::vector<float>{0, 0, 0});
    EXPECT_WORKS(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_WORKS(copy_one(gpu.stream, x, y));
    EXPECT_WORKS(cudaEventRecord(fork, gpu.stream));
    EXPECT_WORKS(cudaStreamWaitEvent(side.stream, fork, 0));
    EXPECT_WORKS(copy_one(side.stream, y, y + 1));
    EXPECT_WORKS(cudaEventRecord(join, side.stream));
    EXPECT_CUDA(cudaErrorCapturedEvent, cudaEventSynchronize(join));
    EXPECT_WORKS(cudaMemsetAsync(x, 0, sizeof(float), gpu.stream));
    EXPECT_WORKS(cudaStreamWaitEvent(gpu.stream, join, 0));
    EXPECT_WORKS(copy_one(gpu.stream, y + 1, y + 2));
    const Graph graph(gpu.stream);
    EXPECT_WORKS(cudaGraphLaunch(graph.exec, gpu.stream));
    EXPECT_EQ(gpu.download(y, 3), (std::vector<float>{1, 1, 1}));
    EXPECT_WORKS(cudaStreamSynchronize(side.stream));  // it is captured no more
    EXPECT_WORKS(cudaEventDestroy(fork));
    EXPECT_WORKS(cudaEventDestroy(join));
  }
}

TEST(Graphs, CallsThatCapturingForbids) {
  Session gpu;
  Session side;
  cudaEvent_t event = nullptr;
  EXPECT_WORKS(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const auto begin = [&] {
    EXPECT_WORKS(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
  };
  const auto expect_end = [&](cudaError_t error) {
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(error, cudaStreamEndCapture(gpu.stream, &graph));
    EXPECT_EQ(graph, nullptr);
  };
  const cudaError_t unsupported = cudaErrorStreamCaptureUnsupported;
  void* memory = nullptr;

  begin();
  EXPECT_CUDA(unsupported, cudaDeviceSynchronize());
  EXPECT_CUDA(unsupported, cudaMalloc(&memory, 4));
  EXPECT_CUDA(unsupported, cudaStreamSynchronize(gpu.stream));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, nothing(gpu.stream, dim3(1), dim3(1)));
  expect_end(cudaErrorStreamCaptureInvalidated);

  begin();  // a stream that forks and does not join
  EXPECT_WORKS(cudaEventRecord(event, gpu.stream));
  EXPECT_WORKS(cudaStreamWaitEvent(side.stream, event, 0));
  EXPECT_WORKS(nothing(side.stream, dim3(1), dim3(1)));
  expect_end(cudaErrorStreamCaptureUnjoined);

  EXPECT_WORKS(cudaEventRecord(event, side.stream));
  begin();  // an event from outside
  EXPECT_CUDA(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(gpu.stream, event, 0));
  expect_end(cudaErrorStreamCaptureInvalidated);

  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamEndCapture(gpu.stream, &graph));
  EXPECT_WORKS(cudaEventDestroy(event));
}

}  // namespace
}  // namespace cuda_on_cpu_test
