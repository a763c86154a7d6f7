// Allocates blocks of host memory and reuses them by size.
#include "phi/memory/engine/host_pool.h"

#include <algorithm>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace phi::memory {

HostBlock HostPool::take(int64_t nbytes) {
  const size_t size = round_to_pages(static_cast<size_t>(std::max<int64_t>(nbytes, 1)));
  const auto bytes = static_cast<int64_t>(size);
  const std::lock_guard lock(mutex_);
  PHI_CHECK(bytes <= limit_ - held_,
            errors::ResourceExhausted(
                "{} more bytes of host memory are over the limit of {}; {} are allocated.", bytes,
                limit_, held_));
  yield_point("host_pool.take.checked");
  held_ += bytes;
  peak_ = std::max(peak_, held_);
  auto& fitting = spares_[size];
  if (!fitting.empty()) {
    HostBlock block = std::move(fitting.back());
    fitting.pop_back();
    spare_ -= bytes;
    return block;
  }
  shrink_to(limit_ - held_);
  return HostBlock(AlignedBuffer(size, device_));
}

void HostPool::give_back(HostBlock block) {
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<int64_t>(block.size());
  held_ -= bytes;
  yield_point("host_pool.give_back.half");
  spare_ += bytes;
  spares_[block.size()].push_back(std::move(block));
}

void HostPool::shrink_to(int64_t spare_bytes) {
  for (auto& [size, blocks] : spares_) {
    for (; spare_ > spare_bytes && !blocks.empty(); blocks.pop_back()) {
      if (const QueueEventPtr& used = blocks.back().used_until()) used->wait();
      spare_ -= static_cast<int64_t>(size);
    }
  }
}

int64_t HostPool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace phi::memory
