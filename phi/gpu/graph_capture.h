// GraphCapture: the state of a GpuDevice during Device::capture. It owns the scratch memory that
// kernels allocate during the capture; the graph uses this memory again in each launch.
//
// CUDA would turn allocations on a captured stream into nodes of the graph. Scratch memory is
// allocated from this library's pool instead, so that limits, reuse and errors are the same as for
// other memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "phi/core/device/launch_graph.h"
#include "phi/core/storage/memory_account.h"

namespace phi::gpu {

class GpuDevice;

/// Thrown through a body that cannot be captured. It is not an error: Device::capture catches it.
struct NotCapturable {};

class GraphCapture {
 public:
  /// Allocates from `pool` on `stream`, which must not be the captured stream.
  GraphCapture(cudaMemPool_t pool, cudaStream_t stream) : pool_(pool), stream_(stream) {}
  /// Frees unused memory on the stream, unless take() has moved it out.
  ~GraphCapture();
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;

  /// Returns scratch memory. Throws NotCapturable if no memory is left.
  std::byte* allocate(size_t nbytes);
  /// Callable from any thread. Memory that this object did not allocate is only listed in
  /// freed_of_others(); the caller frees it after the capture.
  void free(std::byte* memory);
  const std::vector<std::byte*>& freed_of_others() const { return others_; }
  /// Whether the body freed all memory that it allocated and no other memory.
  bool is_closed() const { return in_use_.empty() && !frees_others_; }
  bool has_memory() const { return !in_use_.empty() || !spare_.empty(); }

  /// Errors: Unavailable on threads other than the capturing one.
  void check_thread(const GpuDevice& device) const;

  struct GraphMemory {
    std::vector<std::byte*> pieces;
    size_t nbytes = 0;
  };
  /// Moves the memory out. Call once, if is_closed().
  GraphMemory take();

 private:
  bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }

  std::thread::id thread_ = std::this_thread::get_id();
  cudaMemPool_t pool_;
  cudaStream_t stream_;
  std::mutex mutex_;  // guards the members below during the capture
  std::multimap<size_t, std::byte*> spare_;
  std::map<std::byte*, size_t> in_use_;
  std::vector<std::byte*> others_;
  bool frees_others_ = false;
};

}  // namespace phi::gpu
