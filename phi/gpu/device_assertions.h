// DeviceAssertions: device-side assertions of one GPU, for elements that an operator rejects.
//
// A kernel that finds invalid elements writes the first one of its call to a note in host memory.
// The note of the earliest such call is kept. The host checks the note after each wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>

#include "phi/core/device/device_assertion.h"

namespace phi::gpu {

/// The note that kernels write and the host reads, at the same address on both sides.
struct DeviceAssertionNote {
  DeviceAssertion found;
  int32_t is_set;
};

/// State that the blocks of one search share, in GPU memory. Its values between searches: all ones
/// and 0.
struct DeviceAssertionSearch {
  unsigned long long first;  // lowest position found; all ones if none
  unsigned blocks_done;
};

class DeviceAssertions {
 public:
  /// For the current GPU, whose kernels run on `stream`. The memory is never freed. Errors:
  /// Unavailable.
  explicit DeviceAssertions(cudaStream_t stream);
  DeviceAssertions(const DeviceAssertions&) = delete;
  DeviceAssertions& operator=(const DeviceAssertions&) = delete;

  DeviceAssertionNote* note() const { return note_; }
  DeviceAssertionSearch* search() const { return search_; }
  /// Call after the host has waited: throws the error in the note, once. Safe on any thread;
  /// threads that transfer data wait concurrently with the rank's thread.
  void check() {
    if (note_->is_set != 0) [[unlikely]]
      raise();
  }

 private:
  [[noreturn]] void raise();

  DeviceAssertionNote* note_ = nullptr;
  DeviceAssertionSearch* search_ = nullptr;
  std::mutex mutex_;  // serialises raise()
};

}  // namespace phi::gpu
