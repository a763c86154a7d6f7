// NCCL alone, as a program calls it that has no framework: one communicator of all ranks.
#pragma once

#include <cstddef>
#include <memory>

#include "distributed/comm/world.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu_bench {

class DirectNccl {
 public:
  /// A call of all ranks of `host`, each with its GPU. Errors: Unavailable, as NCCL says.
  DirectNccl(distributed::World& host, gpu::GpuDevice& device);
  ~DirectNccl();
  DirectNccl(const DirectNccl&) = delete;
  DirectNccl& operator=(const DirectNccl&) = delete;

  // Queued on the compute stream.
  /// The sum of all ranks' arrays of `count` floats.
  void all_reduce(const void* in, void* out, size_t count) const;
  /// Everybody sends all others its part of `nbytes`; `out` has room for all parts.
  void send_to_all(const void* part, std::byte* out, size_t nbytes) const;

 private:
  struct Communicator;
  std::unique_ptr<Communicator> comm_;
};

}  // namespace phi::gpu_bench
