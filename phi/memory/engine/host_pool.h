// HostPool: memory for values on the host, never more than its limit, blocks kept for reuse
// included.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "phi/core/device/side_copies.h"
#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

/// Memory of the host, and the copy of a device that uses it last. Who uses it next comes after
/// that.
class HostBlock {
 public:
  HostBlock() = default;
  explicit HostBlock(AlignedBuffer memory) : memory_(std::move(memory)) {}

  std::byte* data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }
  /// Null: no copy uses it.
  const MomentPtr& used_until() const { return used_until_; }
  void set_used_until(MomentPtr moment) { used_until_ = std::move(moment); }

 private:
  AlignedBuffer memory_;
  MomentPtr used_until_;
};

class HostPool {
 public:
  /// Of memory that `device` copies from and to by itself.
  explicit HostPool(int64_t limit, Device& device = Device::of(CPUPlace()))
      : limit_(limit), device_(device) {}

  /// Whole pages; copies of its last owner may be under way. Errors: ResourceExhausted if the limit
  /// does not allow it.
  HostBlock take(int64_t nbytes);
  void give_back(HostBlock block);
  /// The most bytes that were held by others at once.
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
