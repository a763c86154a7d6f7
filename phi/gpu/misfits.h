// Misfits: what kernels of one GPU have found that operators refuse.
//
// A kernel that looks for such elements leaves the first of a call in a note in the host's memory;
// that of the first call stays. The host looks at the note wherever it has waited.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>

#include "phi/core/device/misfit.h"

namespace phi::gpu {

/// What kernels write for the host: both sides use these addresses.
struct MisfitNote {
  Misfit found;
  int32_t is_set;
};

/// What the blocks of one search share, in the GPU's memory; as it is between searches.
struct MisfitSearch {
  unsigned long long first;  // the lowest position that was found; all ones: none
  unsigned blocks_done;
};

class Misfits {
 public:
  /// Of the current GPU, whose kernels run on `stream`; its memory is the process's. Errors:
  /// Unavailable.
  explicit Misfits(cudaStream_t stream);
  Misfits(const Misfits&) = delete;
  Misfits& operator=(const Misfits&) = delete;

  MisfitNote* note() const { return note_; }
  MisfitSearch* search() const { return search_; }
  /// After the host has waited: throws the error of what was found, once. Safe on any thread:
  /// those that carry transfers wait beside the rank's own.
  void check() {
    if (note_->is_set != 0) [[unlikely]]
      raise();
  }

 private:
  [[noreturn]] void raise();

  MisfitNote* note_ = nullptr;
  MisfitSearch* search_ = nullptr;
  std::mutex mutex_;  // of who raises
};

}  // namespace phi::gpu
