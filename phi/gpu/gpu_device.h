// GpuDevice: the memory, compute stream and error state of one GPU.
//
// A rank queues all computation on its GPU on one stream, the compute stream, in program order, and
// the host continues without waiting. The host waits only where it reads values; failures of
// earlier kernels are reported there. Copies of swapped values run on other streams
// (copy_streams.h).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "phi/core/device/device.h"
#include "phi/core/device/launch_graph.h"
#include "phi/gpu/copy_streams.h"
#include "phi/gpu/device_assertions.h"
#include "phi/gpu/gemm.h"
#include "phi/gpu/graph_capture.h"
#include "phi/gpu/launch_log.h"
#include "phi/gpu/small_block_cache.h"

namespace phi::gpu {

/// Shared access of the calling thread to a GPU's compute stream. While the object exists, no other
/// thread can begin or end a capture of the stream. Hold it only for the CUDA calls that use the
/// stream. A thread may hold one at a time.
class ComputeStream {
 public:
  ComputeStream(ComputeStream&&) = default;

  operator cudaStream_t() const { return stream_; }

 private:
  friend class GpuDevice;
  ComputeStream(cudaStream_t stream, std::shared_mutex& gate) : open_(gate), stream_(stream) {}

  std::shared_lock<std::shared_mutex> open_;
  cudaStream_t stream_;
};

/// One object per GPU that is used; never destroyed before the process ends.
class GpuDevice final : public Device {
 public:
  /// The device of `place`. Errors: those of find().
  static GpuDevice& of(const Place& place) { return static_cast<GpuDevice&>(Device::of(place)); }
  /// Creates the device of GPU `index` among those that CUDA shows to this process. Errors:
  /// Unavailable if no driver responds, if the driver is too old, or if no code of this build runs
  /// on the GPU; OutOfRange if there is no such GPU.
  static std::unique_ptr<Device> find(int index);

  std::byte* allocate(MemoryAccount& account, size_t nbytes) override;
  /// Frees in compute-stream order: work that is queued earlier may still use the memory. While
  /// another thread records, the memory is freed after the recording.
  void free(MemoryAccount& account, std::byte* memory, size_t nbytes) override;
  /// Returns memory of any size to the driver's pool, also in compute-stream order.
  void give_back(std::byte* memory);
  Pool pool() const override;
  void reset_pool_peak() override;
  void release_pool() override;
  std::string describe_memory() const override;
  void copy_to_host(void* host, const std::byte* memory, size_t n) override;
  void copy_from_host(std::byte* memory, const void* host, size_t n) override;
  void copy(std::byte* to, const std::byte* from, size_t n) override;
  void copy_boxes(std::span<const BoxCopy> copies, size_t width) override;
  void fill(std::byte* memory, std::byte value, size_t n) override;
  void wait() override;
  /// Returns pinned, page-aligned memory.
  std::byte* allocate_host(size_t nbytes) override;
  void free_host(std::byte* memory) override;
  CopyQueues* copy_queues() override { return copies_.get(); }
  bool can_capture() const override { return true; }
  /// Captures `body` into a CUDA graph. The graph contains only work that the calling thread
  /// queues. While the capture lasts, compute() throws on other threads, and memory that they free
  /// is freed after it.
  std::unique_ptr<LaunchGraph> capture(const std::function<void()>& body) override;

  /// Returns access to the compute stream. Errors: Unavailable while another thread records.
  ComputeStream compute() const;
  int multiprocessors() const { return multiprocessors_; }
  /// Device-side assertions: the elements that kernels found invalid for their operators.
  DeviceAssertions& assertions() { return *assertions_; }
  GemmRunner& gemm_runner() { return gemm_runner_; }
  /// Makes this GPU the current one for CUDA calls of the calling thread.
  void make_current() const;
  /// Adds a launch of the current operator to the log and checks its status. Errors: Unavailable
  /// with the last launches.
  void launched(cudaError_t status);
  /// Makes each later wait for the GPU rethrow `why`: queued work was aborted, so its results are
  /// invalid. Null clears the failure. Callable from any thread.
  void set_failure(std::exception_ptr why);
  /// Throws Unavailable with the last launches unless `status` is cudaSuccess. For CUDA calls that
  /// may return the error of an earlier kernel.
  void check(cudaError_t status, const char* what) const {
    if (status != cudaSuccess) [[unlikely]]
      throw_failed(status, what);
  }

 private:
  explicit GpuDevice(int index);
  void begin_work() override { make_current(); }
  /// The compute stream, for a call that waits for it. A capture cannot contain a wait, because
  /// captured work does not run before the graph is launched. Errors: those of compute();
  /// NotCapturable on the thread that records.
  ComputeStream stream_to_wait_for() const;
  /// Allocates from the driver's pool; null if no memory is left.
  std::byte* allocate_of_pool(size_t nbytes);
  class Capture;
  void check_failure();
  [[noreturn]] void throw_failed(cudaError_t status, const char* what) const;

  int index_;
  int multiprocessors_ = 0;
  cudaStream_t compute_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  SmallBlockCache small_block_cache_;
  std::unique_ptr<DeviceAssertions> assertions_;
  GemmRunner gemm_runner_;
  LaunchLog log_;
  std::unique_ptr<CopyStreams> copies_;
  mutable std::shared_mutex gate_;         // calls: shared; begin and end of a capture: exclusive
  GraphCapture* graph_capture_ = nullptr;  // non-null during a capture; guarded by gate_
  std::atomic<bool> has_failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace phi::gpu
