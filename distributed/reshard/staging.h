// Staging: memory for boxes that do not lie in one piece.
#pragma once

#include <cstddef>
#include <memory>

#include "phi/core/rank_context.h"

namespace phi::distributed {

/// Lives as long as the messages from and to it. One block per thread is kept for the next one, up
/// to a limit; what is in use counts as memory of the rank.
class Staging {
 public:
  explicit Staging(size_t bytes) : bytes_(bytes), account_(RankContext::current().memory()) {
    if (bytes == 0) return;
    block_ = std::move(kept());
    kept() = {};
    if (block_.size < bytes) {
      block_ = {};
      block_ = {std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes};
    }
    next_ = block_.memory.get();
    account_->add(DeviceKind::CPU, static_cast<int64_t>(bytes));
  }
  ~Staging() {
    if (bytes_ == 0) return;
    account_->remove(DeviceKind::CPU, static_cast<int64_t>(bytes_));
    constexpr size_t kMostKept = size_t{64} << 20;
    if (block_.size <= kMostKept && block_.size > kept().size) kept() = std::move(block_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Called for round_up(bytes) each, all together no more than the constructor's.
  std::byte* take(size_t bytes) {
    std::byte* taken = next_;
    next_ += round_up(bytes);
    return taken;
  }
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
  };
  static Block& kept() {
    thread_local Block instance;
    return instance;
  }

  const size_t bytes_;
  const IntrusivePtr<MemoryAccount> account_;
  Block block_;
  std::byte* next_ = nullptr;
};

}  // namespace phi::distributed
