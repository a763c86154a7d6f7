// Recording: what a GpuDevice does while it writes launches down (Device::record). Scratch that
// kernels take and give back meanwhile belongs to the record: it stays theirs for each launch.
//
// CUDA would make allocations of a captured stream part of the graph. Memory of our own pool is
// taken instead, so that limits, pieces that are used again and errors are those of all memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "phi/core/device/launch_record.h"
#include "phi/core/storage/memory_account.h"

namespace phi::gpu {

class GpuDevice;

/// Thrown through a body that does what cannot be written down. No error: whoever records catches
/// it.
struct NotRecordable {};

class Recording {
 public:
  /// Takes memory from `pool` on `stream`, which is not the one that is captured.
  Recording(cudaMemPool_t pool, cudaStream_t stream) : pool_(pool), stream_(stream) {}
  /// What is not in use goes back, on the stream, unless it was taken.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Throws NotRecordable if there is no room.
  std::byte* allocate(size_t nbytes);
  /// From any thread. Memory that was not taken here is kept in a list: give it back when the
  /// capture has ended.
  void free(std::byte* memory);
  const std::vector<std::byte*>& freed_of_others() const { return others_; }
  /// All that the body took was given back, and the body has freed nothing else.
  bool is_closed() const { return in_use_.empty() && !frees_others_; }
  bool has_memory() const { return !in_use_.empty() || !spare_.empty(); }

  /// Errors: Unavailable on other threads than the one that records.
  void check_thread(const GpuDevice& device) const;

  struct Memory {
    std::vector<std::byte*> pieces;
    size_t nbytes = 0;
  };
  /// Once, if it is closed.
  Memory take();

 private:
  bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }

  std::thread::id thread_ = std::this_thread::get_id();
  cudaMemPool_t pool_;
  cudaStream_t stream_;
  std::mutex mutex_;  // of what is below, while the capture goes on
  std::multimap<size_t, std::byte*> spare_;
  std::map<std::byte*, size_t> in_use_;
  std::vector<std::byte*> others_;
  bool frees_others_ = false;
};

}  // namespace phi::gpu
