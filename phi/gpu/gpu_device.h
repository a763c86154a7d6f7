// GpuDevice: the memory and the queue of one GPU.
//
// All that a rank computes on its GPU is queued on one stream, the compute stream, in the order of
// the program; the host goes on. It waits where it needs values, and hears there of what failed.
// Values that are swapped are copied beside it (copy_streams.h).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "phi/core/device/device.h"
#include "phi/core/device/launch_record.h"
#include "phi/gpu/copy_streams.h"
#include "phi/gpu/launch_log.h"
#include "phi/gpu/misfits.h"
#include "phi/gpu/products.h"
#include "phi/gpu/recording.h"
#include "phi/gpu/small_blocks.h"

namespace phi::gpu {

/// A GPU's compute stream, open to the calling thread while this lives: no other thread starts or
/// ends a capture of it meanwhile. Keep it for the CUDA calls that use the stream and no longer; a
/// thread has one at a time.
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

/// One for each GPU that is asked for, for the life of the process.
class GpuDevice final : public Device {
 public:
  /// The GPU of a place. Errors: those of find().
  static GpuDevice& of(const Place& place) { return static_cast<GpuDevice&>(Device::of(place)); }
  /// GPU number `index` of those that CUDA shows to this process. Errors: Unavailable if no driver
  /// answers, if it is too old, or if no code of this build runs on the GPU; OutOfRange if there is
  /// no such GPU.
  static std::unique_ptr<Device> find(int index);

  std::byte* allocate(MemoryAccount& account, size_t nbytes) override;
  /// In the order of the compute stream: what was queued before may still use it. While another
  /// thread records, memory is freed when the recording ends.
  void free(MemoryAccount& account, std::byte* memory, size_t nbytes) override;
  /// To the driver's pool, whatever its size, in that order too.
  void give_back(std::byte* memory);
  std::string about_memory() const override;
  void copy_to_host(void* host, const std::byte* memory, size_t n) override;
  void copy_from_host(std::byte* memory, const void* host, size_t n) override;
  void copy(std::byte* to, const std::byte* from, size_t n) override;
  void copy_boxes(std::span<const BoxCopy> copies, size_t width) override;
  void fill(std::byte* memory, std::byte value, size_t n) override;
  void wait() override;
  /// Pinned.
  std::byte* allocate_host(size_t nbytes) override;
  void free_host(std::byte* memory) override;
  SideCopies* side_copies() override { return copies_.get(); }
  bool can_record() const override { return true; }
  /// As a CUDA graph. The graph holds what the calling thread queues and nothing else: all that
  /// other threads queue on the compute stream meanwhile is refused (compute()), and what they free
  /// is freed afterwards.
  std::unique_ptr<LaunchRecord> record(const std::function<void()>& body) override;

  /// Errors: Unavailable while another thread records.
  ComputeStream compute() const;
  int multiprocessors() const { return multiprocessors_; }
  /// Where kernels leave the elements that their operators refuse.
  Misfits& misfits() { return *misfits_; }
  Products& products() { return products_; }
  /// The GPU becomes the one that the calling thread's CUDA calls mean.
  void make_current() const;
  /// Notes a launch, and what CUDA said of it. Errors: Unavailable, naming the last launches.
  void launched(cudaError_t status);
  /// From now on whoever waits for the GPU is told this: what it had to do was ended by others, and
  /// its values mean nothing. null: no more. From any thread.
  void set_failure(std::exception_ptr why);
  /// Of calls that may tell of what an earlier launch has done.
  void check(cudaError_t status, const char* what) const {
    if (status != cudaSuccess) [[unlikely]]
      throw_failed(status, what);
  }

 private:
  explicit GpuDevice(int index);
  void begin_work() override { make_current(); }
  /// The compute stream to wait for: nothing that is written down is done before it is launched.
  /// Errors: those of compute(); NotRecordable on the thread that records.
  ComputeStream stream_to_wait_for() const;
  /// Of the driver's pool; null if there is no room.
  std::byte* allocate_of_pool(size_t nbytes);
  class Capture;
  void check_failure();
  [[noreturn]] void throw_failed(cudaError_t status, const char* what) const;

  int index_;
  int multiprocessors_ = 0;
  cudaStream_t compute_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  SmallBlocks small_blocks_;
  std::unique_ptr<Misfits> misfits_;
  Products products_;
  LaunchLog log_;
  std::unique_ptr<CopyStreams> copies_;
  mutable std::shared_mutex gate_;  // of the compute stream: shared by calls, or one capture's
  Recording* recording_ = nullptr;  // while launches are written down; gate_ guards it
  std::atomic<bool> has_failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace phi::gpu
