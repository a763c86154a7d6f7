// HostPool: host memory for values, within a limit that includes blocks cached for reuse.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "phi/core/device/copy_queues.h"
#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

/// A block of host memory, and the end of the last device copy that uses it. The next use must be
/// ordered after that copy.
class HostBlock {
 public:
  HostBlock() = default;
  explicit HostBlock(AlignedBuffer memory) : memory_(std::move(memory)) {}

  std::byte* data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }
  /// Null if no copy uses the block.
  const QueueEventPtr& used_until() const { return used_until_; }
  void set_used_until(QueueEventPtr event) { used_until_ = std::move(event); }

 private:
  AlignedBuffer memory_;
  QueueEventPtr used_until_;
};

class HostPool {
 public:
  /// Allocates by Device::allocate_host, so that `device` can copy asynchronously. `limit` is in
  /// bytes.
  explicit HostPool(int64_t limit, Device& device = Device::of(CPUPlace()))
      : limit_(limit), device_(device) {}

  /// Returns a block of whole pages. Copies of its previous owner may still be in flight
  /// (HostBlock::used_until). Errors: ResourceExhausted if the block would exceed the limit.
  HostBlock take(int64_t nbytes);
  void give_back(HostBlock block);
  /// The most bytes that were in use at once.
  int64_t peak_bytes() const;

 private:
  void shrink_to(int64_t spare_bytes);

  const int64_t limit_;
  Device& device_;
  mutable std::mutex mutex_;
  int64_t held_ = 0;
  int64_t peak_ = 0;
  int64_t spare_ = 0;
  std::map<size_t, std::vector<HostBlock>> spares_;  // by size
};

}  // namespace phi::memory
