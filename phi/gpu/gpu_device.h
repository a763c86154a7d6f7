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
  /// In the order of the compute stream: what was queued before may still use it.
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
  /// As a CUDA graph. Ranks that are threads and share a GPU must not: their launches would be
  /// written down, too, and are refused.
  std::unique_ptr<LaunchRecord> record(const std::function<void()>& body) override;

  cudaStream_t compute() const { return compute_; }
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
  /// Nothing that is written down is done before it is launched.
  void check_may_wait() const {
    if (recording()) [[unlikely]]
      throw NotRecordable{};
  }
  /// Null while nothing is written down. Errors: Unavailable if another thread writes.
  Recording* recording() const {
    Recording* const recording = recording_.load(std::memory_order_relaxed);
    if (recording) [[unlikely]]
      recording->check_thread(*this);
    return recording;
  }
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
  std::atomic<Recording*> recording_{nullptr};  // while launches are written down
  std::atomic<bool> has_failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace phi::gpu
