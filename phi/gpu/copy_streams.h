// CopyStreams: two streams of a GPU, one for each direction, on which copies run concurrently with
// the compute stream. Events order the three streams.
#pragma once

#include <cuda_runtime_api.h>

#include "phi/core/device/side_copies.h"

namespace phi::gpu {

class GpuDevice;

class CopyStreams final : public SideCopies {
 public:
  /// Creates the streams on the current GPU, which must be `device`. Errors: Unavailable.
  explicit CopyStreams(const GpuDevice& device);
  CopyStreams(const CopyStreams&) = delete;
  CopyStreams& operator=(const CopyStreams&) = delete;

  MomentPtr launched() override;
  void launch_after(const Moment& moment) override;
  void after(Way way, const Moment& moment) override;
  MomentPtr end_of(Way way) override;
  void to_host(void* host, const std::byte* memory, size_t n) override;
  void from_host(std::byte* memory, const void* host, size_t n) override;
  void copy(std::byte* to, const std::byte* from, size_t n) override;

  cudaStream_t stream(Way way) const { return streams_[way]; }

 private:
  MomentPtr now(cudaStream_t stream) const;
  void order(cudaStream_t stream, const Moment& moment) const;
  void add(Way way, void* to, const void* from, size_t n, cudaMemcpyKind kind);

  const GpuDevice& device_;
  cudaStream_t streams_[2] = {};  // indexed by Way; never destroyed
};

}  // namespace phi::gpu
