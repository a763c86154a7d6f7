// HostPool: memory for values on the host, never more than its limit, blocks kept for reuse
// included.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

class HostPool {
 public:
  explicit HostPool(int64_t limit) : limit_(limit) {}

  /// Whole pages. Errors: ResourceExhausted if the limit does not allow it.
  AlignedBuffer take(int64_t nbytes);
  void give_back(AlignedBuffer block);
  /// The most bytes that were held by others at once.
  int64_t peak_bytes() const;

 private:
  void shrink_to(int64_t spare_bytes);

  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t held_ = 0;
  int64_t peak_ = 0;
  int64_t spare_ = 0;
  std::map<size_t, std::vector<AlignedBuffer>> spares_;  // by size
};

}  // namespace phi::memory
