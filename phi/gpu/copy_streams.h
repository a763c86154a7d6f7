// CopyStreams: two streams of a GPU, one for each direction, on which copies run concurrently with
// the compute stream. Events order the three streams.
#pragma once

#include <cuda_runtime_api.h>

#include "phi/core/device/copy_queues.h"

namespace phi::gpu {

class GpuDevice;

class CopyStreams final : public CopyQueues {
 public:
  /// Creates the streams on the current GPU, which must be `device`. Errors: Unavailable.
  explicit CopyStreams(const GpuDevice& device);
  CopyStreams(const CopyStreams&) = delete;
  CopyStreams& operator=(const CopyStreams&) = delete;

  QueueEventPtr launched() override;
  void launch_after(const QueueEvent& event) override;
  void after(CopyDirection way, const QueueEvent& event) override;
  QueueEventPtr end_of(CopyDirection way) override;
  void to_host(void* host, const std::byte* memory, size_t n) override;
  void from_host(std::byte* memory, const void* host, size_t n) override;
  void copy(std::byte* to, const std::byte* from, size_t n) override;

  cudaStream_t stream(CopyDirection way) const { return streams_[way]; }

 private:
  QueueEventPtr now(cudaStream_t stream) const;
  void order(cudaStream_t stream, const QueueEvent& event) const;
  void add(CopyDirection way, void* to, const void* from, size_t n, cudaMemcpyKind kind);

  const GpuDevice& device_;
  cudaStream_t streams_[2] = {};  // indexed by Way; never destroyed
};

}  // namespace phi::gpu
