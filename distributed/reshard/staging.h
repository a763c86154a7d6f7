// Staging: memory for boxes that do not lie in one piece.
#pragma once

#include "phi/core/storage/storage.h"

namespace phi::distributed {

/// Lives as long as the messages from and to it. It comes from the rank's block cache and counts as
/// its memory, like a tensor.
class Staging {
 public:
  explicit Staging(size_t bytes) {
    if (bytes == 0) return;
    storage_ = Storage::allocate(bytes, CPUPlace());
    next_ = storage_->data();
  }

  /// Of all calls together, the sum of round_up(bytes) is at most the constructor's bytes.
  std::byte* take(size_t bytes) {
    std::byte* taken = next_;
    next_ += round_up(bytes);
    return taken;
  }
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  IntrusivePtr<Storage> storage_;
  std::byte* next_ = nullptr;
};

}  // namespace phi::distributed
